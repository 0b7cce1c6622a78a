package stop

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/statefile"
	"agentwrap/test/isolate"
)

func recorded(t *testing.T, root process.Identity) (*ledger.Store, *ledger.Entry) {
	t.Helper()
	store := ledger.Open(filepath.Join(t.TempDir(), "ledger"))
	e := &ledger.Entry{
		Runtime: "claude", StartedAt: ledger.At(time.Now()), EnrolledBy: ledger.EnrolledByShim, Interactive: ledger.Ptr(true),
		BootID: ledger.Ptr(root.BootID), PID: ledger.Ptr(root.PID), PIDStartTicks: ledger.Ptr(root.StartTicks),
	}
	if err := store.Create(e, statefile.Soon); err != nil {
		t.Fatal(err)
	}
	return store, e
}

func TestAStoppedSessionIsEndedByItsUser(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		root, _ := session(t, `exec sleep 1000`, 1)
		store, e := recorded(t, root)
		if _, err := Session(context.Background(), store, e, root, short); err != nil {
			t.Fatal(err)
		}
		got, err := store.Read(e.LedgerID)
		if err != nil || got.FinishedAt == nil || ledger.Value(got.EndedBy) != ledger.EndedByUser || ledger.Value(got.FinishReason) != ReasonStopped {
			t.Errorf("finished %v by %q, reason %q, %v", got.FinishedAt, ledger.Value(got.EndedBy), ledger.Value(got.FinishReason), err)
		}
	})
}

func TestASessionThatIsNotEndedIsLeftAsItWas(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		first, err := process.Of(1)
		if err != nil {
			t.Fatal(err)
		}
		store, e := recorded(t, first)
		if _, err := Session(context.Background(), store, e, first, short); !errors.Is(err, ErrInside) {
			t.Fatalf("got %v, want ErrInside", err)
		}
		if got, err := store.Read(e.LedgerID); err != nil || got.FinishedAt != nil || got.EndedBy != nil {
			t.Errorf("finished %v by %v, %v", got.FinishedAt, got.EndedBy, err)
		}
	})
}
