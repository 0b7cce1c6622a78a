package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/process"
	"agentwrap/internal/procscan"
	"agentwrap/internal/statefile"
	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

func TestMain(m *testing.M) {
	actor.Play(map[string]func() int{"sweep": sweepOnce})
	os.Exit(isolate.Main(m))
}

func covered(name string) bool { return slices.Contains([]string{"claude", "codex"}, name) }

// world is a ledger of its own and a sweeper over it.
type world struct {
	*testing.T
	Sweeper
	saved []string // the sessions that were rescued
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if err := procscan.InHostNamespace(); err != nil {
		isolate.Missing(t, "root, since a sweep wants the host's user namespace")
	}
	w := &world{T: t}
	w.Sources = observe.Sources{Store: ledger.Open(filepath.Join(t.TempDir(), "ledger")), Covered: covered, Home: t.TempDir(), Now: time.Now}
	w.Rescue = func(_ context.Context, e *ledger.Entry, _ bool) (Saved, error) {
		w.saved = append(w.saved, e.LedgerID)
		return Saved{Looked: true, Ref: "refs/rescued/" + e.LedgerID, Commit: "c", Paths: []string{"a"}}, nil
	}
	return w
}

func (w *world) run() Report {
	w.Helper()
	r, err := w.Sweeper.Run(context.Background())
	if err != nil || len(r.Failed) > 0 {
		w.Fatal(r.Failed, err)
	}
	return r
}

// row writes an entry of a runtime, changed as the test needs it.
func (w *world) row(runtime string, changes ...func(*ledger.Entry)) string {
	w.Helper()
	boot, err := process.BootID()
	if err != nil {
		w.Fatal(err)
	}
	e := &ledger.Entry{Runtime: runtime, BootID: &boot, StartedAt: ledger.At(time.Now()), EnrolledBy: ledger.EnrolledByShim}
	for _, change := range changes {
		change(e)
	}
	if err := w.Sources.Store.Create(e, statefile.Soon); err != nil {
		w.Fatal(err)
	}
	return e.LedgerID
}

func (w *world) read(id string) *ledger.Entry {
	w.Helper()
	e, err := w.Sources.Store.Read(id)
	if err != nil {
		w.Fatal(err)
	}
	return e
}

func (w *world) ids() []string {
	w.Helper()
	ids, err := w.Sources.Store.IDs()
	if err != nil {
		w.Fatal(err)
	}
	return ids
}

// of makes an entry that of a process.
func of(p actor.Process) func(*ledger.Entry) {
	id, err := process.Of(p.PID())
	if err != nil {
		panic(err)
	}
	return func(e *ledger.Entry) { e.PID, e.PIDStartTicks = &id.PID, &id.StartTicks }
}

// dead is a process that has ended.
func (w *world) dead() func(*ledger.Entry) {
	w.Helper()
	p := actor.Program{Argv: []string{"sleeper"}}.Start(w.T)
	own := of(p)
	p.Kill()
	return own
}

func started(argv ...string) actor.Program { return actor.Program{Argv: argv} }

var errNoDisk = errors.New("no space left on device")
