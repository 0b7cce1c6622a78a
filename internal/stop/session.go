package stop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
)

// ReasonStopped is the finishReason of a session that was ended by Session.
const ReasonStopped = "stopped"

const (
	// lockWait bounds the wait for an entry's lock.
	lockWait = 5 * time.Second
	// holderWait is how long the session's holder may take to write down the exit
	// status that it alone sees.
	holderWait = 2 * time.Second
)

// Session ends a session by its user's will: the process root with its tree, and
// the entry. The entry is told first, so that an end in between is not taken for
// a loss.
func Session(ctx context.Context, store *ledger.Store, e *ledger.Entry, root process.Identity, o Order) (Outcome, error) {
	before := e.EndedBy
	// An entry that cannot be written does not keep the session from its end.
	unwritten := willed(store, e.LedgerID, ledger.Ptr(ledger.EndedByUser))
	holder := holderOf(e)
	if holder != nil {
		defer holder.close()
	}
	outcome, err := Tree(ctx, e.LedgerID, root, o)
	if alive, _ := root.Alive(); alive {
		return outcome, errors.Join(err, willed(store, e.LedgerID, before))
	}
	if holder != nil {
		if _, werr := waitFor(ctx, []*handle{holder}, time.Now().Add(holderWait)); werr != nil {
			err = errors.Join(err, werr)
		}
	}
	if closing := closed(store, e.LedgerID, time.Now()); closing != nil {
		err = errors.Join(err, fmt.Errorf("the session has ended, its entry does not say so: %w", errors.Join(closing, unwritten)))
	}
	return outcome, err
}

// willed notes in an open entry by whom its end is wanted.
func willed(store *ledger.Store, id string, by *string) error {
	return store.Update(id, ledger.Within(lockWait), func(e *ledger.Entry) error {
		if e.FinishedAt != nil {
			return ledger.ErrUnchanged
		}
		e.EndedBy = by
		return nil
	})
}

// closed ends the entry, by its user's will. The exit status that the holder
// wrote stays.
func closed(store *ledger.Store, id string, now time.Time) error {
	return store.Update(id, ledger.Durable(lockWait), func(e *ledger.Entry) error {
		if e.FinishedAt == nil {
			e.FinishedAt = ledger.At(now)
		}
		e.EndedBy, e.FinishReason = ledger.Ptr(ledger.EndedByUser), ledger.Ptr(ReasonStopped)
		return nil
	})
}

// holderOf is a handle on the process that keeps the session's terminal, nil
// for none: the entry names it as the launcher.
func holderOf(e *ledger.Entry) *handle {
	if e.HostSocket == nil || e.LauncherPID == nil {
		return nil
	}
	id, err := process.Of(*e.LauncherPID)
	if err != nil {
		return nil
	}
	h, err := open(id)
	if err != nil {
		return nil
	}
	return h
}
