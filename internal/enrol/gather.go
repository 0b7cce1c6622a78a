package enrol

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
	"agentwrap/internal/statefile"
)

// Look finds out who the ancestors are. Known tells the session that a process
// is, "" where none is known; it may be nil.
type Look struct {
	Covered func(name string) bool
	// Profiles are the user's.
	Profiles runtimes.Profiles
	Known    func(id process.Identity) string
	// Recorded tells whether the ledger has a session of that id, for Process:
	// an id without one is no launcher's, but that of a launch which could not
	// be recorded. It may be nil.
	Recorded func(ledgerID string) bool
}

// Self gathers this very process, which is about to become the CLI.
func (l Look) Self(runtime string, args, environ []string) (Subject, error) {
	s, err := l.start(os.Getpid())
	if err != nil {
		return s, err
	}
	s.Runtime, s.Args, s.Env = runtime, args, ReadEnvironment(environ)
	return s, nil
}

// Process gathers a process that already runs. One whose environment cannot be
// read comes back with Env.Readable false.
func (l Look) Process(pid int, runtime string, args []string) (Subject, error) {
	s, err := l.start(pid)
	if err != nil {
		return s, err
	}
	s.Runtime, s.Args = runtime, args
	if vars, err := process.Environ(pid); err == nil {
		s.Env = ReadEnvironment(l.proved(vars))
	}
	return s, nil
}

// proved is an environment without an id that names no session.
func (l Look) proved(vars []string) []string {
	const name = "AGENT_LEDGER_ID"
	if id := ReadEnvironment(vars).Get(name); id == "" || l.Recorded == nil || l.Recorded(id) {
		return vars
	}
	return slices.DeleteFunc(vars, func(v string) bool { return strings.HasPrefix(v, name+"=") })
}

func (l Look) start(pid int) (Subject, error) {
	st, err := process.ReadStat(pid)
	if err != nil {
		return Subject{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	boot, err := process.BootID()
	if err != nil {
		return Subject{}, err
	}
	s := Subject{
		Profiles: l.Profiles,
		CWD:      CWD(pid),
		TTY:      process.TTYName(st.TTY),
		Started:  process.StartTime(st.StartTicks),
		Identity: process.Identity{BootID: boot, PID: pid, StartTicks: st.StartTicks},
		Cgroup:   func() string { return cgroup(pid) },
	}
	s.Ancestors = func(yield func(Ancestor) bool) {
		for above := range process.Above(st) {
			if !yield(l.ancestor(boot, above)) {
				return
			}
		}
	}
	return s, nil
}

// ancestor looks at one process above. What comes between us and it in a
// hosted session (the holder, the host's server) is no one's launcher.
func (l Look) ancestor(boot string, st process.Stat) Ancestor {
	a := Ancestor{PID: st.PID, Comm: st.Comm}
	if l.Covered == nil {
		return a
	}
	argv, err := process.Cmdline(st.PID)
	if err != nil {
		return a
	}
	name, args, ok := runtimes.Match(argv, "", l.Covered)
	if !ok || l.Profiles.For(name).Kind(args) == runtimes.Service {
		return a
	}
	a.Runtime = name
	if l.Known != nil {
		a.LedgerID = l.Known(process.Identity{BootID: boot, PID: st.PID, StartTicks: st.StartTicks})
	}
	return a
}

// CWD is a process's working directory; for one that has been removed, the path
// it had; "" for none that can be told.
func CWD(pid int) string {
	link := "/proc/" + strconv.Itoa(pid) + "/cwd"
	dir, err := os.Readlink(link)
	if err != nil {
		return ""
	}
	if was, ok := strings.CutSuffix(dir, " (deleted)"); ok {
		if _, err := os.Lstat(dir); err != nil {
			return was
		}
	}
	if !strings.HasPrefix(dir, "/") {
		return ""
	}
	return dir
}

// cgroupLimit bounds a process's list of cgroups, in bytes.
const cgroupLimit = 64 << 10

// cgroup is a process's cgroup path in the unified hierarchy, or systemd's own
// where there is none.
func cgroup(pid int) string {
	raw, err := statefile.Read("/proc/"+strconv.Itoa(pid)+"/cgroup", cgroupLimit)
	if err != nil {
		return ""
	}
	var named string
	for line := range strings.Lines(string(raw)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[0] == "0" && parts[1] == "" && parts[2] != "/" {
			return parts[2]
		}
		if parts[1] == "name=systemd" {
			named = parts[2]
		}
	}
	return named
}

// Interactive tells whether a process that already runs is a session that
// someone sits before.
func (s Subject) Interactive() bool {
	p := runtimes.For(s.Runtime)
	return p.Kind(s.Args) == runtimes.Interactive && !p.InBackground(s.Env.Get) && onTerminal(s.Identity.PID)
}

// onTerminal tells whether a process has a terminal for its input and its output.
func onTerminal(pid int) bool {
	for _, fd := range []string{"0", "1"} {
		name, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + fd)
		if err != nil || !strings.HasPrefix(name, "/dev/pts/") && !strings.HasPrefix(name, "/dev/tty") {
			return false
		}
	}
	return true
}

// ClientTTY is the path of the terminal on a descriptor, "" for none.
func ClientTTY(fd int) string {
	if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
		return ""
	}
	name, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil || !strings.HasPrefix(name, "/dev/") {
		return ""
	}
	return name
}
