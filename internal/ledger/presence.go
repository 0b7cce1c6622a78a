package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"agentwrap/internal/process"
)

// Presence tells whether a session's process runs.
type Presence int

const (
	// Unproved is neither: why stands in Whereabouts.Why.
	Unproved Presence = iota
	Running
	Gone
)

// Whereabouts is which process a session is, if any.
type Whereabouts struct {
	Presence Presence
	// Process is the running one; the zero value otherwise.
	Process process.Identity
	// Why is how it was told, in words for the evidence.
	Why string
}

// Sighting is what /proc says of one pid now.
type Sighting struct {
	Exists     bool
	StartTicks uint64
	// Err is why it could not be told; Exists means nothing then.
	Err error
}

// Carrier is a process that runs a session of its runtime and whose environment
// carries a session's id.
type Carrier struct {
	PID        int
	StartTicks uint64
	PGRP       int
	Runtime    string
	// Ancestors are the pids above it, nearest first.
	Ancestors []int
	// Leader tells that it leads a session (setsid) of its own, as a daemon's
	// worker does and a wrapped program does not.
	Leader bool
}

// Look is all that FindProcess looks at beside the entry.
type Look struct {
	// BootID is this boot's, "" where it could not be read.
	BootID string
	// Machine is this machine, "" where that is not known.
	Machine string
	// Recorded is the entry's own pid, looked up now.
	Recorded Sighting
	// Launching tells that the launcher named in the entry still runs and has
	// not become the session yet.
	Launching bool
	// Carriers carry the entry's id. One that is another entry's process is not
	// among them.
	Carriers []Carrier
	// Blind are the pids that run the entry's runtime, belong to no entry and
	// have an environment that cannot be read: any of them could carry the id.
	Blind []int
}

// survivorTicks is how soon after its wrapper a wrapped program starts: one
// that came later is something the session itself ran.
const survivorTicks = 10 * process.TicksPerSecond

// FindProcess finds the process of a session: its recorded process, checked by boot
// id, pid and start ticks; else the outermost process that carries its id
// (docs/ledger.md, "Which process a session is").
func FindProcess(e *Entry, look Look) Whereabouts {
	switch {
	case look.BootID == "":
		return Whereabouts{Presence: Unproved, Why: "this machine's boot id cannot be read"}
	case e.MachineID != nil && look.Machine != "" && *e.MachineID != look.Machine:
		return Whereabouts{Presence: Unproved, Why: "it was started on another machine, " + cmp.Or(Value(e.Host), "whose name is not known")}
	case e.BootID != nil && *e.BootID != look.BootID:
		return Whereabouts{Presence: Gone, Why: "the machine was restarted since"}
	case e.PID != nil && e.PIDStartTicks != nil:
		return findRecorded(e, look)
	}
	return findByID(e, look)
}

func findRecorded(e *Entry, look Look) Whereabouts {
	pid := *e.PID
	same := look.Recorded.Exists && look.Recorded.StartTicks == *e.PIDStartTicks
	switch {
	case look.Recorded.Err != nil:
		return Whereabouts{Presence: Unproved, Why: fmt.Sprintf("process %d cannot be looked at: %v", pid, look.Recorded.Err)}
	case same && e.BootID == nil && !slices.ContainsFunc(look.Carriers, func(c Carrier) bool { return c.PID == pid }):
		return Whereabouts{Presence: Unproved, Why: fmt.Sprintf("process %d may be another one: the entry names no boot", pid)}
	case same:
		return running(look.BootID, pid, *e.PIDStartTicks, fmt.Sprintf("process %d runs", pid))
	}
	if c, ok := survivor(e, look.Carriers); ok {
		return running(look.BootID, c.PID, c.StartTicks, fmt.Sprintf("process %d runs; its wrapper %d is gone", c.PID, pid))
	}
	if look.Recorded.Exists {
		return Whereabouts{Presence: Gone, Why: fmt.Sprintf("process %d is another one now", pid)}
	}
	return Whereabouts{Presence: Gone, Why: fmt.Sprintf("process %d is gone", pid)}
}

// survivor is the program whose wrapper, the recorded process, is gone: of the
// wrapper's group, or started right behind it.
func survivor(e *Entry, carriers []Carrier) (Carrier, bool) {
	for _, c := range outermost(e, carriers) {
		behind := !c.Leader && c.StartTicks >= *e.PIDStartTicks && c.StartTicks-*e.PIDStartTicks <= survivorTicks
		if c.PID != *e.PID && (c.PGRP == *e.PID || behind) {
			return c, true
		}
	}
	return Carrier{}, false
}

func findByID(e *Entry, look Look) Whereabouts {
	for _, c := range outermost(e, look.Carriers) {
		if e.LauncherPID != nil && (*e.LauncherPID == c.PID || slices.Contains(c.Ancestors, *e.LauncherPID)) {
			return running(look.BootID, c.PID, c.StartTicks, fmt.Sprintf("process %d carries its id", c.PID))
		}
	}
	switch {
	case look.Launching:
		return Whereabouts{Presence: Unproved, Why: "it is being started"}
	case len(look.Blind) > 0:
		return Whereabouts{Presence: Unproved, Why: fmt.Sprintf("the environment of process %d cannot be read, and no process was recorded", look.Blind[0])}
	}
	return Whereabouts{Presence: Gone, Why: "no process was recorded and none carries its id"}
}

// outermost are the carriers that run the entry's own runtime and stand below
// no other such carrier, earliest first.
func outermost(e *Entry, carriers []Carrier) []Carrier {
	own := slices.DeleteFunc(slices.Clone(carriers), func(c Carrier) bool { return e.Runtime != "" && c.Runtime != e.Runtime })
	outer := slices.DeleteFunc(slices.Clone(own), func(c Carrier) bool {
		return slices.ContainsFunc(own, func(o Carrier) bool { return slices.Contains(c.Ancestors, o.PID) })
	})
	slices.SortFunc(outer, func(a, b Carrier) int {
		if a.StartTicks != b.StartTicks {
			return int(int64(a.StartTicks) - int64(b.StartTicks))
		}
		return a.PID - b.PID
	})
	return outer
}

func running(boot string, pid int, ticks uint64, why string) Whereabouts {
	return Whereabouts{Presence: Running, Process: process.Identity{BootID: boot, PID: pid, StartTicks: ticks}, Why: why}
}
