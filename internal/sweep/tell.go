package sweep

import (
	"context"
	"fmt"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/notify"
	"agentwrap/internal/observe"
)

// tell tells the user what the sweep has left true: it looks once more, since
// closing an entry may have made it lost or not.
func (s *Sweeper) tell(ctx context.Context, r *Report) error {
	if s.Notify == nil {
		return nil
	}
	view, err := observe.All(ctx, s.Sources, observe.Want{Clients: true, Texts: true})
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	told, err := s.Notify.Tell(ctx, subjects(view))
	for _, n := range told {
		r.Notified = append(r.Notified, n.Event+" "+n.LedgerID)
	}
	return err
}

func subjects(v *observe.View) (all []notify.Subject) {
	for _, s := range v.Sessions {
		all = append(all, subject(s))
	}
	for _, b := range v.Briefs {
		all = append(all, notify.Subject{LedgerID: b.LedgerID, Name: b.LedgerID, Ended: true})
	}
	return all
}

func subject(s *observe.Session) notify.Subject {
	e, turn := s.Entry, ledger.Value(s.Turn)
	return notify.Subject{
		LedgerID: e.LedgerID, Name: nameOf(s),
		Running: s.State.Alive(), Ended: s.State == ledger.Finished,
		Lost: s.Lost, LostSince: lostSince(e),
		Yours: turn == ledger.TurnYours, Its: turn == ledger.TurnIts, TurnAt: ledger.Value(e.TurnAt).Time,
		Headless: e.Interactive != nil && !*e.Interactive, StartedAt: ledger.Value(e.StartedAt).Time,
		Attached: ledger.Value(s.Attached),
	}
}

// lostSince is one time for one loss: that of the end, else of the start.
func lostSince(e *ledger.Entry) time.Time {
	if e.FinishedAt != nil {
		return e.FinishedAt.Time
	}
	return ledger.Value(e.StartedAt).Time
}

func nameOf(s *observe.Session) string {
	name := s.Entry.Runtime
	if p := ledger.Value(s.Entry.Project); p != "" {
		name += " in " + p
	}
	if s.Title != "" {
		name += ", " + s.Title
	}
	return name
}
