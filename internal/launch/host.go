package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"agentwrap/internal/become"
	"agentwrap/internal/host"
	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
)

// Variables that say how a launch is hosted. AGENTWRAP_HOST stays in the CLI's
// environment but for detached, which like the size is for one launch alone.
const (
	hostVar = "AGENTWRAP_HOST"
	sizeVar = "AGENTWRAP_SIZE"
)

const (
	hostNever    = "never"
	hostDetached = "detached"
)

// defaultSize is a detached session's screen until a terminal joins it.
var defaultSize = host.Size{Rows: 40, Columns: 120}

// wantsHost tells a launch that is to outlive its terminal: a person's, on a
// terminal, that is not already inside one of our hosts; or one that was asked
// to have no terminal at all.
func (l *launch) wantsHost() bool {
	if l.kind != runtimes.Interactive {
		return false
	}
	switch l.env.get(hostVar) {
	case hostNever:
		return false
	case hostDetached:
		l.detached = true
		return true
	}
	return l.interactive() && !insideHost()
}

// insideHost tells whether this process's controlling terminal is a holder's:
// the holder leads the terminal's session. The environment would not tell, as
// it leaks into terminals that are opened from a session.
func insideHost() bool {
	st, err := process.ReadStat(os.Getpid())
	if err != nil || st.TTY == 0 {
		return false
	}
	argv, err := process.Cmdline(st.Session)
	return err == nil && len(argv) > 1 && filepath.Base(argv[0]) == "agentwrap" && argv[1] == host.HoldVerb
}

// hosted starts the CLI in a host and relays this terminal to it. An error says
// that there is no session and that nothing is left of the attempt.
func (l *launch) hosted() (code int, err error) {
	if !l.recorded {
		return 0, fmt.Errorf("it could not be recorded: %w", l.unrecorded)
	}
	// The host is started by others too, to whom /proc/self/exe is themselves.
	program, err := os.Readlink(self)
	if err != nil {
		return 0, err
	}
	job := host.Launch{Store: l.store, LedgerID: l.entry.LedgerID, Self: program, Spec: become.Capture()}
	if l.detached {
		size := parseSize(l.env.get(sizeVar))
		job.Detached = &size
		l.env = l.env.without(hostVar)
	}
	job.Spec.Path, job.Spec.Argv, job.Spec.Env = l.found.Candidates[0], l.argv, l.env.without(sizeVar)
	outcome, err := host.Run(job)
	if err != nil {
		return 0, err
	}
	if l.detached {
		fmt.Println(l.entry.LedgerID)
	}
	if outcome.Signal != 0 {
		become.DieBy(outcome.Signal)
	}
	return outcome.Code, nil
}

// parseSize reads COLSxROWS; what is no size is the default.
func parseSize(s string) host.Size {
	cols, rows, ok := strings.Cut(s, "x")
	c, cerr := strconv.ParseUint(cols, 10, 16)
	r, rerr := strconv.ParseUint(rows, 10, 16)
	if !ok || cerr != nil || rerr != nil || c == 0 || r == 0 {
		return defaultSize
	}
	return host.Size{Rows: uint16(r), Columns: uint16(c)}
}
