// Package procscan looks at all processes of this machine in one cheap pass,
// for the sweep and the views: which of them are sessions of covered CLIs, what
// hosts them, what they cost. It only ever reads. The shim does not link it.
package procscan

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
)

// Process is one process that runs a session of a covered CLI.
type Process struct {
	process.Stat
	Runtime string
	// Args are the arguments after the runtime's name. They may hold keys: they
	// are looked at and never stored.
	Args []string
	// Script tells that an interpreter runs it.
	Script bool
	// Ancestors are the pids above it, nearest first.
	Ancestors []int
	// LedgerID is the AGENT_LEDGER_ID of its environment, "" for none; it is
	// not checked. It means nothing where Unreadable is set.
	LedgerID string
	// Unreadable is why its environment cannot be read, or is another user's.
	Unreadable error
	// Folded are the pids of the programs that it is the wrapper of.
	Folded []int
}

// Snapshot are the sessions' processes of one moment, by pid.
type Snapshot struct {
	BootID string
	// Machine is this machine (process.Machine).
	Machine string
	// Taken is when the scan began.
	Taken     time.Time
	Processes []Process
	byPID     map[int]int
}

// Find is the session process with a pid.
func (s *Snapshot) Find(pid int) (*Process, bool) {
	at, ok := s.byPID[pid]
	if !ok {
		return nil, false
	}
	return &s.Processes[at], true
}

// ErrNamespace is returned where this process is in a user namespace below the
// host's: environments it cannot read there prove nothing.
var ErrNamespace = errors.New("this is a nested user namespace")

// hostUIDMap is /proc/self/uid_map in the host's user namespace.
const hostUIDMap = "0 0 4294967295"

// InHostNamespace fails with ErrNamespace where this process is not in the
// host's own user namespace.
func InHostNamespace() error {
	raw, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return fmt.Errorf("read the user namespace: %w", err)
	}
	if got := strings.Join(strings.Fields(string(raw)), " "); got != hostUIDMap {
		return fmt.Errorf("%w (its uid map is %q): run the sweep outside of it", ErrNamespace, got)
	}
	return nil
}

// Take scans all processes for sessions of the covered runtimes. A process that
// ends meanwhile is not among them.
func Take(covered func(name string) bool, profiles runtimes.Profiles) (*Snapshot, error) {
	s := &Snapshot{Taken: time.Now(), Machine: process.Machine()}
	var err error
	if s.BootID, err = process.BootID(); err != nil {
		return nil, err
	}
	hits, err := matching(covered)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		if p, ok := look(h, covered, profiles); ok {
			s.Processes = append(s.Processes, p)
		}
	}
	s.fold()
	return s, nil
}

// hit is a process whose command line may be that of a covered runtime.
type hit struct {
	pid  int
	argv []string
}

// anyExe stands for a program's path while it is not read: with it, a name that
// depends on the path matches.
const anyExe = "cursor-agent/versions/"

// cmdlineWindow bounds what is read of a command line: the program, its
// script, their flags and the first words stand at its beginning.
const cmdlineWindow = 4096

// matching reads every command line once, into one buffer: for the few that
// match, look reads the rest.
func matching(covered func(name string) bool) ([]hit, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var hits []hit
	buf := make([]byte, cmdlineWindow)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		argv := process.SplitNul(readAt(int(dir.Fd()), name+"/cmdline", buf))
		if _, _, ok := runtimes.Match(argv, anyExe, covered); ok {
			hits = append(hits, hit{pid, argv})
		}
	}
	return hits, nil
}

// readAt reads the beginning of a file below a folder; nothing where there is
// none (any more).
func readAt(dir int, name string, buf []byte) []byte {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	if err != nil || n < 0 {
		return nil
	}
	return buf[:n]
}
