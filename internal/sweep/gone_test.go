package sweep

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

// Killing the node wrapper of a codex leaves the program: the session lives on.
func TestASessionOutlivesItsWrapper(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := w.row("codex", func(e *ledger.Entry) { e.LauncherPID = ledger.Ptr(os.Getpid()) })
		wrapper := actor.Wrapper(t, "codex").With("AGENT_LEDGER_ID=" + id).Start(t)
		if r := w.run(); !slices.Equal(r.Bound, []string{id}) || len(r.Enrolled) != 0 || *w.read(id).PID != wrapper.PID() {
			t.Fatalf("%+v", r)
		}
		if err := wrapper.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = wrapper.Process.Wait()
		if r := w.run(); !slices.Equal(r.Bound, []string{id}) || len(r.Enrolled) != 0 || len(r.Closed) != 0 {
			t.Errorf("%+v", r)
		}
		if e := w.read(id); *e.PID == wrapper.PID() || e.FinishedAt != nil {
			t.Errorf("pid %d, finished %v", *e.PID, e.FinishedAt)
		}
	})
}

func TestWhatIsGoneIsRescuedThenClosedByRuntime(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		codex := w.row("codex", w.dead())
		lost := w.row("claude", w.dead(), func(e *ledger.Entry) { e.SessionID = ledger.Ptr("s") })
		empty := w.row("claude", w.dead())
		starting := w.row("claude")
		reused := w.row("codex", of(started("codex").Start(t)), func(e *ledger.Entry) { e.PIDStartTicks = ledger.Ptr(*e.PIDStartTicks + 1) })
		rebooted := w.row("codex", of(started("codex").Start(t)), func(e *ledger.Entry) { e.BootID = ledger.Ptr("earlier") })
		w.run()
		for id, want := range map[string]string{codex: reasonExited, empty: reasonNothingLeft, reused: reasonExited, rebooted: reasonExited} {
			e := w.read(id)
			if e.FinishedAt == nil || ledger.Value(e.FinishReason) != want || ledger.Value(e.EndedBy) != ledger.EndedByLoss || ledger.Value(e.RescueRef) != "refs/rescued/"+id {
				t.Errorf("%s: finished %v, %q by %q, rescue %q", id, e.FinishedAt, ledger.Value(e.FinishReason), ledger.Value(e.EndedBy), ledger.Value(e.RescueRef))
			}
		}
		if e := w.read(lost); e.FinishedAt != nil || e.RescuedAt == nil {
			t.Errorf("the lost claude: finished %v, rescued %v", e.FinishedAt, e.RescuedAt)
		}
		if e := w.read(starting); e.FinishedAt != nil || e.RescuedAt != nil {
			t.Errorf("the starting claude: finished %v, rescued %v", e.FinishedAt, e.RescuedAt)
		}
		w.run()
		slices.Sort(w.saved)
		if want := []string{codex, lost, empty, reused, rebooted}; len(slices.Compact(w.saved)) != len(want) || len(w.saved) != len(want) {
			t.Errorf("rescued %v, want each of %v once", w.saved, want)
		}
	})
}

func TestAFailedRescueLeavesTheEntryOpenAndIsTriedAgain(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := w.row("codex", w.dead())
		closed := w.row("claude", w.dead(), func(e *ledger.Entry) { e.FinishedAt = ledger.At(time.Now()) })
		works := w.Rescue
		w.Rescue = func(context.Context, *ledger.Entry, bool) (Saved, error) { return Saved{}, errNoDisk }
		r, err := w.Sweeper.Run(context.Background())
		if err != nil || len(r.Failed) != 2 || !strings.Contains(r.Failed[0].Why, "no space left") || w.read(id).FinishedAt != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		w.Rescue = works
		if r := w.run(); len(r.Rescued) != 2 || w.read(id).FinishedAt == nil || w.read(closed).RescuedAt == nil {
			t.Errorf("%+v", r)
		}
	})
}

func TestAFolderThatIsNotThereMarksNothing(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := w.row("codex", w.dead())
		w.Rescue = func(context.Context, *ledger.Entry, bool) (Saved, error) { return Saved{}, nil }
		w.run()
		if e := w.read(id); e.RescuedAt != nil || e.FinishedAt == nil {
			t.Errorf("rescued %v, finished %v", e.RescuedAt, e.FinishedAt)
		}
	})
}
