package sweep

import (
	"context"
	"fmt"

	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
)

// Settle saves what a dead session left uncommitted, before anyone goes on in
// its folder. One that runs, that its user ended, or that was looked at before
// is left alone.
func (s *Sweeper) Settle(ctx context.Context, id string) error {
	o, view, err := observe.One(ctx, s.Sources, id, observe.Want{})
	if err != nil {
		return err
	}
	if o.State != ledger.Orphaned && o.State != ledger.Finished || ledger.Value(o.Entry.EndedBy) == ledger.EndedByUser {
		return nil
	}
	c := carrier{Sweeper: s, ctx: ctx, view: view, report: &Report{}, unsaved: map[string]bool{}}
	if err := c.rescue(id); err != nil {
		return fmt.Errorf("save the uncommitted work of session %s: %w", id, err)
	}
	return nil
}
