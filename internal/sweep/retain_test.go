package sweep

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
)

func TestAHooksPruneTakesOnlyWhatIsSurelyOld(t *testing.T) {
	now := time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC)
	day := func(n int) *ledger.Stamp { return ledger.At(now.AddDate(0, 0, -n)) }
	yes := func() bool { return true }
	store := ledger.Open(filepath.Join(t.TempDir(), "l"))
	var kept []string
	for _, e := range []*ledger.Entry{
		{Runtime: "old", StartedAt: day(40), FinishedAt: day(31)},
		{Runtime: "open", StartedAt: day(400)},
		{Runtime: "long", StartedAt: day(40), FinishedAt: day(29)},
		{Runtime: "young", StartedAt: day(2), FinishedAt: day(1)},
	} {
		if err := store.Create(e, statefile.Soon); err != nil {
			t.Fatal(err)
		}
		if e.Runtime != "old" {
			kept = append(kept, e.LedgerID)
		}
	}
	left := func() int {
		ids, err := store.IDs()
		if err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}
	// Without a sweep that told the time, the clock may be wrong.
	for _, last := range []time.Time{{}, now.Add(-48 * time.Hour), now.Add(time.Hour)} {
		if err := store.NoteSweep(ledger.LastSweep{CompletedAt: last}); err != nil {
			t.Fatal(err)
		}
		if err := PruneUntil(store, now, yes); err != nil || left() != 4 {
			t.Errorf("last sweep %v: %d left, %v", last, left(), err)
		}
	}
	if err := store.NoteSweep(ledger.LastSweep{CompletedAt: now.Add(-time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if err := PruneUntil(store, now, func() bool { return false }); err != nil || left() != 4 {
		t.Errorf("without time: %d left, %v", left(), err)
	}
	if err := PruneUntil(store, now, yes); err != nil {
		t.Fatal(err)
	}
	ids, err := store.IDs()
	slices.Sort(ids)
	slices.Sort(kept)
	if err != nil || !slices.Equal(ids, kept) {
		t.Errorf("left %v, %v, want %v", ids, err, kept)
	}
}
