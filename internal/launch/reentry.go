package launch

import (
	"strconv"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
)

// depthVar counts how often one launch has come back to a shim. It is only in
// an environment where that has happened once already.
const depthVar = "AGENTWRAP_DEPTH"

// maxNested is how many sessions of one runtime may stand in one another: more
// is a program on PATH that starts the shim instead of the CLI.
const maxNested = 16

// reentries tells how often this launch came back to a shim: a candidate that
// was exec'd turned out to be another copy of the shim, or a script that leads
// to one. The process is then already a session by its record.
func (l *launch) reentries() int {
	id := l.env.get("AGENT_LEDGER_ID")
	if id == "" || l.openStore() != nil {
		return 0
	}
	e, err := l.store.Read(id)
	if err != nil {
		return 0
	}
	if own, err := process.Self(); err == nil && isProcess(e, own) {
		depth, _ := strconv.Atoi(l.env.get(depthVar))
		return max(depth, 0) + 1
	}
	if l.nestedTooDeep(e) {
		return len(l.found.Candidates)
	}
	return 0
}

func isProcess(e *ledger.Entry, id process.Identity) bool {
	return ledger.Value(e.PID) == id.PID && ledger.Value(e.PIDStartTicks) == id.StartTicks && ledger.Value(e.BootID) == id.BootID
}

// nestedTooDeep follows the chain of launching sessions upwards while they are
// of this runtime.
func (l *launch) nestedTooDeep(e *ledger.Entry) bool {
	for depth := 1; e.Runtime == l.name; depth++ {
		if depth >= maxNested {
			return true
		}
		parent := ledger.Value(e.ParentLedgerID)
		if parent == "" {
			return false
		}
		var err error
		if e, err = l.store.Read(parent); err != nil {
			return false
		}
	}
	return false
}

// passThrough goes on without a second record: a candidate that came back
// before is passed over, so that each time round one fewer is left.
func (l *launch) passThrough(depth int) int {
	if depth >= len(l.found.Candidates) {
		l.say("what PATH has under this name leads back to agentwrap: " + l.found.Candidates[len(l.found.Candidates)-1])
		return exitCannotRun
	}
	l.found.Candidates = l.found.Candidates[depth:]
	l.env = l.env.with(depthVar, strconv.Itoa(depth))
	return l.inPlace()
}
