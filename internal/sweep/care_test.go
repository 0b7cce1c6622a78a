package sweep

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/notify"
	"agentwrap/internal/observe"
	"agentwrap/internal/settings"
	"agentwrap/internal/statefile"
	"agentwrap/internal/tidy"
	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

func TestFilesAreLookedAfter(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		old := ledger.At(time.Now().Add(-ledger.FinishedRetention - time.Hour))
		ended := w.row("claude", func(e *ledger.Entry) { e.FinishedAt, e.EndedBy = old, ledger.Ptr(ledger.EndedByUser) })
		lost := w.row("claude", func(e *ledger.Entry) {
			e.FinishedAt, e.EndedBy, e.Interactive = old, ledger.Ptr(ledger.EndedByLoss), ledger.Ptr(true)
		})
		open := w.row("claude", func(e *ledger.Entry) { e.StartedAt = old })
		torn := filepath.Join(w.Sources.Store.Dir(), "sessions", "claude-torn.json")
		if err := os.WriteFile(torn, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		first := w.run()
		if len(first.Pruned) != 0 || len(first.SetAside) != 1 {
			t.Errorf("the first sweep: %+v", first)
		}
		if raw, err := os.ReadFile(first.SetAside[0]); err != nil || string(raw) != "{" {
			t.Errorf("set aside: %q, %v", raw, err)
		}
		second := w.run()
		slices.Sort(second.Pruned)
		if want := []string{ended, lost}; !slices.Equal(second.Pruned, slices.Sorted(slices.Values(want))) || !slices.Equal(w.ids(), []string{open}) {
			t.Errorf("pruned %v, left %v", second.Pruned, w.ids())
		}
	})
}

// A launch does not wait for the disk: the sweep does it for it.
func TestEntriesOfLateAreMadeDurable(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		before := w.row("claude", of(started("claude").Start(t)), func(e *ledger.Entry) { e.StartedAt = ledger.At(time.Now().Add(-time.Hour)) })
		late := w.row("claude", of(started("claude").Start(t)))
		if err := w.Sources.Store.NoteSweep(ledger.LastSweep{CompletedAt: time.Now().Add(-time.Minute)}); err != nil {
			t.Fatal(err)
		}
		v, err := observe.All(context.Background(), w.Sources, observe.Want{})
		if err != nil {
			t.Fatal(err)
		}
		var synced []string
		restore := statefile.Inject(func(op, path string) error {
			if op == "fsync" {
				synced = append(synced, strings.TrimSuffix(filepath.Base(filepath.Clean(path)), ".json"))
			}
			return nil
		})
		defer restore()
		w.syncRecent(v)
		if want := []string{late, "sessions"}; !slices.Equal(synced, want) {
			t.Errorf("synced %v, want %v and not %s", synced, want, before)
		}
	})
}

func TestTheUserIsToldOfALostSessionOnce(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		out := filepath.Join(t.TempDir(), "out")
		say := actor.Script(t, "say", `echo "$AGENT_SESSIONS_EVENT $AGENT_SESSIONS_ID" >> `+out)
		s := settings.Defaults().Notify
		s.Command = []string{say}
		w.Notify = &notify.Notifier{Root: w.Sources.Store.Dir(), Settings: s, Environ: os.Environ(), Now: time.Now}
		lost := w.row("claude", w.dead(), func(e *ledger.Entry) { e.SessionID, e.Interactive = ledger.Ptr("s"), ledger.Ptr(true) })
		w.row("codex", w.dead(), func(e *ledger.Entry) { e.Interactive = ledger.Ptr(false) })
		for range 3 {
			w.run()
		}
		raw, err := os.ReadFile(out)
		if err != nil || string(raw) != "lost "+lost+"\n" {
			t.Errorf("told %q, %v", raw, err)
		}
	})
}

func TestTidyingComesLastAndItsFailureIsTold(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		say := actor.Script(t, "say", `echo "$AGENT_SESSIONS_EVENT $AGENT_SESSIONS_ID: $2" >> `+filepath.Join(w.Sources.Home, "out"))
		s := settings.Defaults().Notify
		s.Command = []string{say}
		w.Notify = &notify.Notifier{Root: w.Sources.Store.Dir(), Settings: s, Environ: os.Environ(), Now: time.Now}
		w.Tidy = func() (tidy.Report, bool, error) {
			return tidy.Report{Large: []tidy.Large{{Path: "/s/a", Session: "claude-a", Bytes: 11 << 30}}, Failed: []string{"/s/b is in use"}}, true, errNoDisk
		}
		r, err := w.Sweeper.Run(context.Background())
		if err != nil || len(r.Failed) != 2 || r.Failed[1].String() != "/s/b is in use" || r.Tidied == nil {
			t.Errorf("%+v, %v", r, err)
		}
		raw, err := os.ReadFile(filepath.Join(w.Sources.Home, "out"))
		if err != nil || !strings.HasPrefix(string(raw), "large claude-a: /s/a of session claude-a holds 11264 MB") {
			t.Errorf("told %q, %v", raw, err)
		}
		if last, err := w.Sources.Store.LastSweep(); err != nil || last.CompletedAt.IsZero() {
			t.Errorf("a failed tidying undid the sweep: %+v, %v", last, err)
		}
	})
}
