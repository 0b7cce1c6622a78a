package reopen

import (
	"errors"
	"fmt"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
)

// ErrTaken is wrapped by the error for a session that someone else resumes or
// has resumed.
var ErrTaken = errors.New("somebody else goes on with it")

// claimWait bounds the wait for an entry's lock, and for the disk after it.
const claimWait = 5 * time.Second

// Claim takes the right to go on with a session, for the process by: of two at
// once, one gets it. It holds until that process has ended, or until the new
// session is recorded, which closes the old one.
func Claim(store *ledger.Store, id string, by process.Identity) error {
	return store.Update(id, ledger.Durable(claimWait), func(e *ledger.Entry) error {
		if e.ResumedBy != nil {
			return fmt.Errorf("resume session %s: %w: it was resumed as %s", id, ErrTaken, *e.ResumedBy)
		}
		if holder, held := claimHolder(e); held && holder != by {
			return fmt.Errorf("resume session %s: %w: process %d is about to", id, ErrTaken, holder.PID)
		}
		e.ResumeClaim = ledger.Ptr(by.Key())
		return nil
	})
}

// Claimed tells whether a process that still runs holds the claim.
func Claimed(e *ledger.Entry) bool {
	_, held := claimHolder(e)
	return held
}

// claimHolder: a claim whose process cannot be looked at is taken to hold.
func claimHolder(e *ledger.Entry) (process.Identity, bool) {
	if e.ResumeClaim == nil {
		return process.Identity{}, false
	}
	holder, err := process.ParseKey(*e.ResumeClaim)
	if err != nil {
		return process.Identity{}, false
	}
	alive, err := holder.Alive()
	return holder, alive || err != nil
}

// Unclaim gives a claim up that led to no session.
func Unclaim(store *ledger.Store, id string, by process.Identity) error {
	return store.Update(id, ledger.Within(claimWait), func(e *ledger.Entry) error {
		if ledger.Value(e.ResumeClaim) != by.Key() {
			return ledger.ErrUnchanged
		}
		e.ResumeClaim = nil
		return nil
	})
}
