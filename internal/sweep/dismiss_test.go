package sweep

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/test/isolate"
)

func TestDismiss(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		loss := func(e *ledger.Entry) {
			e.FinishedAt, e.EndedBy, e.Interactive = ledger.At(time.Now()), ledger.Ptr(ledger.EndedByLoss), ledger.Ptr(true)
		}
		spoke := func(e *ledger.Entry) { e.SessionID = ledger.Ptr("s") }
		orphan, closed, never := w.row("claude", w.dead(), spoke), w.row("codex", w.dead(), loss), w.row("claude")
		for _, id := range []string{orphan, closed, never} {
			if err := w.Dismiss(context.Background(), id); err != nil {
				t.Errorf("%s: %v", id, err)
			}
			e := w.read(id)
			if e.FinishedAt == nil || ledger.Value(e.FinishReason) != ledger.ReasonDismissed || ledger.Value(e.EndedBy) != ledger.EndedByUser {
				t.Errorf("%s: finished %v, %q by %q", id, e.FinishedAt, ledger.Value(e.FinishReason), ledger.Value(e.EndedBy))
			}
		}
		if want := []string{orphan, closed}; !slices.Equal(w.saved, want) {
			t.Errorf("rescued %v, want %v", w.saved, want)
		}
		if r := w.run(); len(r.Closed)+len(r.Rescued) != 0 {
			t.Errorf("the sweep goes on with them: %+v", r)
		}
	})
}

func TestOnlyALostSessionIsDismissed(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		runs := w.row("claude", of(started("claude").Start(t)))
		unproved := w.row("claude", func(e *ledger.Entry) { of(started("claude").Start(t))(e); e.BootID = nil })
		ended := w.row("claude", w.dead(), func(e *ledger.Entry) { e.FinishedAt = ledger.At(time.Now()) })
		for _, id := range []string{runs, unproved, ended} {
			if err := w.Dismiss(context.Background(), id); !errors.Is(err, ErrNotLost) {
				t.Errorf("%s: %v", id, err)
			}
			if reason := ledger.Value(w.read(id).FinishReason); reason != "" {
				t.Errorf("%s: %s", id, reason)
			}
		}
		if err := w.Dismiss(context.Background(), "claude-none"); !errors.Is(err, ledger.ErrNoSession) {
			t.Errorf("one that is not there: %v", err)
		}
		lost := w.row("claude", w.dead(), func(e *ledger.Entry) { e.SessionID = ledger.Ptr("s") })
		w.Rescue = func(context.Context, *ledger.Entry, bool) (Saved, error) { return Saved{}, errNoDisk }
		if err := w.Dismiss(context.Background(), lost); !errors.Is(err, errNoDisk) || w.read(lost).FinishedAt != nil {
			t.Errorf("without its work being safe: %v", err)
		}
	})
}

func TestTheLostOfLongAgo(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		at := func(d time.Duration) func(*ledger.Entry) {
			return func(e *ledger.Entry) {
				e.StartedAt, e.SessionID = ledger.At(time.Now().Add(-d)), ledger.Ptr(d.String())
			}
		}
		old := w.row("claude", w.dead(), at(48*time.Hour))
		w.row("claude", w.dead(), at(time.Hour))
		w.row("claude", of(started("claude").Start(t)), at(72*time.Hour))
		ids, err := w.LostBefore(context.Background(), time.Now().Add(-24*time.Hour))
		if err != nil || !slices.Equal(ids, []string{old}) {
			t.Errorf("%v, %v, want %s", ids, err, old)
		}
	})
}
