package observe

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/statefile"
	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

func TestMain(m *testing.M) {
	actor.Play(nil)
	os.Exit(isolate.Main(m))
}

// world is a ledger of its own and what a view of it looks at.
type world struct {
	*testing.T
	src  Sources
	home string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	return &world{t, Sources{
		Store:   ledger.Open(filepath.Join(home, "ledger")),
		Covered: func(name string) bool { return slices.Contains([]string{"claude", "codex"}, name) },
		Home:    home,
		Now:     time.Now,
	}, home}
}

// row writes an entry of a runtime, changed as the test needs it.
func (w *world) row(runtime string, change func(*ledger.Entry)) *ledger.Entry {
	w.Helper()
	boot, err := process.BootID()
	if err != nil {
		w.Fatal(err)
	}
	e := &ledger.Entry{Runtime: runtime, BootID: &boot, StartedAt: ledger.At(time.Now()), EnrolledBy: ledger.EnrolledByShim}
	if change != nil {
		change(e)
	}
	if err := w.src.Store.Create(e, statefile.Soon); err != nil {
		w.Fatal(err)
	}
	return e
}

// of makes an entry that of a running process.
func of(p actor.Process) func(*ledger.Entry) {
	return func(e *ledger.Entry) {
		id, err := process.Of(p.PID())
		if err != nil {
			panic(err)
		}
		e.PID, e.PIDStartTicks = &id.PID, &id.StartTicks
	}
}

func (w *world) view(want Want) *View {
	w.Helper()
	v, err := All(context.Background(), w.src, want)
	if err != nil {
		w.Fatal(err)
	}
	return v
}

func (w *world) session(v *View, id string) *Session {
	w.Helper()
	at := slices.IndexFunc(v.Sessions, func(s *Session) bool { return s.Entry.LedgerID == id })
	if at < 0 {
		w.Fatalf("session %s is not in the view", id)
	}
	return v.Sessions[at]
}

// conversation writes a transcript where Claude Code would.
func (w *world) conversation(id, text string, age time.Duration) string {
	w.Helper()
	path := filepath.Join(w.home, ".claude", "projects", "-work", id+".jsonl")
	at := time.Now().Add(-age)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
		w.Fatal(err)
	}
	return path
}
