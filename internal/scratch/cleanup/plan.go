// Package cleanup decides which scratch folders may go and removes those, for
// the sweep and for `agent-sessions scratch`: a pure plan, and hands that look
// again at everything right before they act (docs/scratch.md, "Clean-up").
package cleanup

import (
	"cmp"
	"fmt"
	"time"

	"agentwrap/internal/statefile"
)

// State is what a scratch folder is.
type State string

const (
	// Live belongs to a session that has not ended.
	Live State = "live"
	// Resting belongs to an ended session and changed not long ago.
	Resting State = "resting"
	// InUse has a process in it, whatever became of its session.
	InUse State = "in use"
	// Unproved may belong to a live session, or cannot be looked at.
	Unproved State = "unproved"
	// Due is to be removed.
	Due State = "due"
)

// Folder is what was seen of one scratch folder.
type Folder struct {
	Name    string
	Path    string
	Session string
	// Home is where it belongs: it has another name while it is being removed.
	Home Place
	// ID is the folder itself, whatever its name.
	ID statefile.FileID
	// Changed is when it or anything in it last changed, Bytes what it takes on
	// disk; both are only known when Surveyed.
	Surveyed bool
	Changed  time.Time
	Bytes    uint64
	// Begun tells that its removal began and was cut short.
	Begun bool
	// Process says of a session that is named by a process whether it runs.
	Process Process
	// Err is why the folder could not be looked at.
	Err error

	inodes []uint64
}

// Place is a name in a folder, whatever path leads to that.
type Place struct {
	Parent statefile.FileID
	Name   string
}

// Process is what is known of the process that names a session.
type Process int

const (
	// NoProcess: the session's name names none.
	NoProcess Process = iota
	ProcessGone
	ProcessRuns
	// ProcessUnknown: it could not be told, or it may be another one.
	ProcessUnknown
)

// Facts are all that the plan depends on beside the folder.
type Facts struct {
	Now time.Time
	// Rest is how long an ended session's folder must not have changed.
	Rest time.Duration
	// Owned are the folders and sessions that open rows of the ledger have, each
	// with the row's id; LedgerErr is why that is not known.
	Owned     Owned
	LedgerErr error
	// Leased are the sessions that hold or wait for a lease; LeasesErr is why
	// that is not known.
	Leased    map[string]bool
	LeasesErr error
	// InUse says, by folder, who is in it.
	InUse    map[statefile.FileID]string
	InUseErr error
}

// Owned says which folders and sessions have an open row: the row's id.
type Owned struct {
	ByFolder  map[statefile.FileID]string
	ByPlace   map[Place]string
	BySession map[string]string
}

func (o Owned) by(f Folder) string {
	return cmp.Or(o.ByFolder[f.ID], o.ByPlace[f.Home], o.BySession[f.Session])
}

// Decision is what a folder is and why, in words.
type Decision struct {
	Folder
	State State
	Why   string
}

// Decide is the whole rule (docs/scratch.md, "Clean-up"). What is not proved
// keeps the folder.
func Decide(f Folder, facts Facts) Decision {
	state, why := decide(f, facts)
	return Decision{Folder: f, State: state, Why: why}
}

func decide(f Folder, facts Facts) (State, string) {
	if state, why := ended(f, facts); state != "" {
		return state, why
	}
	switch {
	case f.Err != nil:
		return Unproved, f.Err.Error()
	case !f.Surveyed:
		return Unproved, "not looked into"
	case facts.Now.Sub(f.Changed) < facts.Rest && !f.Begun:
		return Resting, restingFor(facts.Rest-facts.Now.Sub(f.Changed), facts)
	case facts.InUseErr != nil:
		return Unproved, facts.InUseErr.Error()
	case facts.InUse[f.ID] != "":
		return InUse, facts.InUse[f.ID]
	case f.Begun:
		return Due, "its removal had begun"
	}
	return Due, "its session ended and nothing changed for " + days(facts.Now.Sub(f.Changed))
}

// ended is "" when the folder's session is proved to have ended.
func ended(f Folder, facts Facts) (State, string) {
	row := facts.Owned.by(f)
	switch {
	case row != "":
		return Live, "session " + row + " has it"
	case facts.Leased[f.Session]:
		return Live, "its session holds or waits for a lease"
	case f.Process == ProcessRuns:
		return Live, "its process runs"
	case facts.LedgerErr != nil:
		return Unproved, facts.LedgerErr.Error()
	case facts.LeasesErr != nil:
		return Unproved, facts.LeasesErr.Error()
	case f.Process == ProcessUnknown:
		return Unproved, "the process that names its session may still run"
	}
	return "", ""
}

func restingFor(left time.Duration, facts Facts) string {
	if left > facts.Rest {
		return "it changed at a time that is still to come"
	}
	return "its session ended; it may go in " + days(left) + " if nothing changes"
}

// days is a length of time in days, in hours where it is less than two.
func days(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}
