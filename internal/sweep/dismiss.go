package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/statefile"
)

// ErrNotLost is wrapped by the error for a session that cannot be dismissed.
var ErrNotLost = errors.New("not a lost session")

// LostBefore are the lost sessions that were last active before a time.
func (s *Sweeper) LostBefore(ctx context.Context, before time.Time) ([]string, error) {
	view, err := observe.All(ctx, s.Sources, observe.Want{})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, o := range view.Sessions {
		if o.Lost && o.LastActiveAt != nil && o.LastActiveAt.Before(before) {
			ids = append(ids, o.Entry.LedgerID)
		}
	}
	return ids, nil
}

// Dismiss closes a lost session that its user no longer wants, after its work
// is safe, so that retention can end it one day. The error wraps ErrNotLost for
// one that runs, cannot be told to be gone, or has ended by itself.
func (s *Sweeper) Dismiss(ctx context.Context, id string) error {
	o, view, err := observe.One(ctx, s.Sources, id, observe.Want{})
	if err != nil {
		return err
	}
	if err := dismissable(o); err != nil {
		return err
	}
	c := carrier{Sweeper: s, ctx: ctx, view: view, report: &Report{}, unsaved: map[string]bool{}}
	if err := c.rescue(id); err != nil {
		return fmt.Errorf("dismiss session %s: its uncommitted work could not be saved: %w", id, err)
	}
	return c.update(id, statefile.Synced, func(e *ledger.Entry) error {
		if e.FinishedAt == nil && view.WhereIs(e).Presence != ledger.Gone {
			return fmt.Errorf("dismiss session %s: %w: it runs again", id, ErrNotLost)
		}
		if e.FinishedAt == nil {
			e.FinishedAt = ledger.At(s.Sources.Now())
		}
		e.FinishReason, e.EndedBy = ledger.Ptr(ledger.ReasonDismissed), ledger.Ptr(ledger.EndedByUser)
		return nil
	})
}

func dismissable(o *observe.Session) error {
	id := o.Entry.LedgerID
	switch {
	case newer(o.Entry):
		return fmt.Errorf("dismiss session %s: %w: update agentwrap", id, ledger.ErrNewer)
	case o.State.Alive():
		return fmt.Errorf("dismiss session %s: %w: it runs; end it with: agent-sessions stop %s", id, ErrNotLost, id)
	case o.State == ledger.Unknown:
		return fmt.Errorf("dismiss session %s: %w: it cannot be told whether it runs: %s", id, ErrNotLost, o.Evidence)
	case o.State == ledger.Finished && !o.Lost:
		return fmt.Errorf("dismiss session %s: %w: it has ended already", id, ErrNotLost)
	}
	return nil
}
