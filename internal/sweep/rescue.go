package sweep

import (
	"context"
	"errors"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
)

// Rescue saves what a session left uncommitted. shared tells that other
// sessions run in the same working tree. An error means that the work could
// not be saved and is to be tried again.
type Rescue func(ctx context.Context, e *ledger.Entry, shared bool) (Saved, error)

// Saved is what a rescue left behind. Without work to save, or without a
// repository, all but Looked is zero.
type Saved struct {
	// Looked tells that the folder was looked at; where it is not there, which
	// may be a disk that is not mounted, the rescue is still owed.
	Looked      bool
	Ref, Commit string
	Paths       []string
	Skipped     []ledger.SkippedPath
}

var errNoRescue = errors.New("its uncommitted work cannot be saved: git was not found")

// rescue saves a dead session's work once and marks the entry. Where that fails
// the entry stays open.
func (c *carrier) rescue(id string) error {
	e, err := c.Sources.Store.Read(id)
	if err != nil {
		return err
	}
	if e.RescuedAt != nil || e.PID == nil || c.view.WhereIs(e).Presence != ledger.Gone {
		return nil
	}
	saved, err := c.save(e)
	if err != nil {
		c.unsaved[id] = true
		if e.FinishedAt != nil && (c.owed.IsZero() || e.FinishedAt.Before(c.owed)) {
			c.owed = e.FinishedAt.Time
		}
		return err
	}
	if !saved.Looked {
		return nil
	}
	c.report.Rescued = append(c.report.Rescued, RescuedRow{id, saved.Ref})
	return nil
}

func (c *carrier) save(e *ledger.Entry) (Saved, error) {
	if c.Rescue == nil {
		return Saved{}, errNoRescue
	}
	saved, err := c.Rescue(c.ctx, e, c.sharedTree(e))
	if err != nil || !saved.Looked {
		return saved, err
	}
	return saved, c.update(e.LedgerID, statefile.Synced, func(e *ledger.Entry) error {
		if e.RescuedAt != nil {
			return ledger.ErrUnchanged
		}
		e.RescuedAt = ledger.At(c.Sources.Now())
		e.RescueRef, e.RescueCommit = ledger.Known(saved.Ref), ledger.Known(saved.Commit)
		e.RescuedPaths, e.RescueSkipped = saved.Paths, saved.Skipped
		return nil
	})
}

// sharedTree tells whether another session runs in an entry's working tree: the
// snapshot may then hold work that is not its own.
func (c *carrier) sharedTree(e *ledger.Entry) bool {
	for _, s := range c.view.Sessions {
		if s.Entry.LedgerID != e.LedgerID && s.State.Alive() && e.RepoRoot != nil && ledger.Value(s.Entry.RepoRoot) == *e.RepoRoot {
			return true
		}
	}
	return false
}

// rescuedUpTo is up to when closed entries have their rescue after this sweep.
func (c *carrier) rescuedUpTo(began time.Time) time.Time {
	if !c.owed.IsZero() && c.owed.Before(began) {
		return c.owed
	}
	return began
}
