package hookadopt

import (
	"errors"
	"iter"
	"slices"

	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
)

// ancestor is a process above the hook.
type ancestor struct {
	process.Stat
	argv []string
	exe  string
}

// owner is the session's process: the program that called the hook and the
// wrappers that only stand around it.
type owner struct {
	// processes are innermost first; the outermost is the session's in the ledger.
	processes []process.Stat
	// args are the arguments after the CLI's name.
	args []string
}

func (o owner) innermost() process.Stat { return o.processes[0] }
func (o owner) outermost() process.Stat { return o.processes[len(o.processes)-1] }

var (
	// errShared is returned where a service called that may serve any session.
	errShared = errors.New("called by a service of the CLI, which serves more than one session")
	// errNoCaller is returned where no process above runs the CLI.
	errNoCaller = errors.New("no process above this hook runs the CLI")
)

// owner finds whose hook this is among the processes above, nearest first. It
// is the nearest one that runs a session of the CLI; claimed, which is 0 for
// none, is what the CLI itself says to be its pid and needs no other proof. A
// service in between ends the search: what stands above it is the session that
// happened to start it.
func (d *dialect) owner(above iter.Seq[ancestor], claimed int) (owner, error) {
	var o owner
	profile := runtimes.For(d.runtime)
	for a := range above {
		_, args, runs := runtimes.Match(a.argv, a.exe, func(name string) bool { return slices.Contains(d.names, name) })
		first := len(o.processes) == 0
		switch {
		case first && a.PID == claimed:
		case first && !runs:
			continue
		case first && profile.IsService(args, a.exe):
			return o, errShared
		case !first && (!runs || !slices.Equal(args, o.args)):
			return o, nil
		}
		o.processes, o.args = append(o.processes, a.Stat), args
	}
	if len(o.processes) == 0 {
		return o, errNoCaller
	}
	return o, nil
}

// above are the processes above one, each read when it is asked for. One whose
// arguments cannot be read has none.
func above(pid int) iter.Seq[ancestor] {
	return func(yield func(ancestor) bool) {
		for st := range process.Ancestors(pid) {
			argv, _ := process.Cmdline(st.PID)
			if !yield(ancestor{st, argv, process.Exe(st.PID)}) {
				return
			}
		}
	}
}
