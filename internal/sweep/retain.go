package sweep

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
)

// leftoverAge is how old a temporary file is when no writer can be at work on
// it any more.
const leftoverAge = time.Hour

// removeLeftovers removes what killed writers left. Every sweep tries it again.
func (s *Sweeper) removeLeftovers(now time.Time) {
	sessions := filepath.Dir(s.Sources.Store.EntryPath("x"))
	for _, dir := range []string{s.Sources.Store.Dir(), sessions} {
		_, _ = statefile.RemoveLeftovers(dir, now.Add(-leftoverAge))
	}
}

// Prune removes the entries that finished more than ledger.FinishedRetention
// ago, or only tells which they are. What cannot be removed is in failed.
func Prune(store *ledger.Store, now time.Time, dryRun bool) (pruned []string, failed []Failure, err error) {
	loaded, err := store.Load(false)
	if err != nil {
		return nil, nil, err
	}
	pruned = []string{}
	c := carrier{Sweeper: &Sweeper{}, ctx: context.Background(), report: &Report{}}
	c.Sources.Store, c.Sources.Now = store, func() time.Time { return now }
	f := facts{now: now, briefs: loaded.Briefs, last: ledger.LastSweep{CompletedAt: now}}
	for _, e := range loaded.Entries {
		f.rows = append(f.rows, row{entry: e})
	}
	for _, d := range judgeFiles(f) {
		if dryRun {
			pruned = append(pruned, d.id)
			continue
		}
		c.carryOut(d)
	}
	pruned = append(pruned, c.report.Pruned...)
	slices.Sort(pruned)
	return pruned, c.report.Failed, nil
}

// PruneUntil is Prune for a hook, which has little time: it looks only at the
// entries whose id alone says that they began long enough ago, until a moment.
// Where no sweep has told lately that the clock is right, it leaves all to the
// next one.
func PruneUntil(store *ledger.Store, now time.Time, more func() bool) error {
	last, err := store.LastSweep()
	if since := now.Sub(last.CompletedAt); err != nil || since > clockLeap || since < -ledger.ClockSlack {
		return err
	}
	ids, err := store.IDs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if began, ok := ledger.IDTime(id); !ok || !expired(ledger.Stamp{Time: began}, now) {
			continue
		}
		if !more() {
			return nil
		}
		_, rerr := store.Remove(id, func(e *ledger.Entry) bool { return e.FinishedAt != nil && expired(*e.FinishedAt, now) })
		err = errors.Join(err, rerr)
	}
	return err
}
