// Package become turns this process into the real CLI with nothing of ours left on it: working
// directory, umask, priority, resource limits, signal dispositions and mask, descriptors, environment,
// then exec. It is for whoever launches: in place from the shim, or in the child that the holder of a
// hosted session has forked. It knows nothing of records or sessions.
//
// A Go program cannot see all that it was started with: before main its runtime has put handlers over
// ignored signals, unblocked some, and raised the soft limit of open files. Programs that must hand these
// on unchanged are linked with EntryFlag; see entry.go.
package become

import (
	"golang.org/x/sys/unix"
)

// Spec is a program to exec and the process state it must find.
//
// The zero value of a field is a value like any other, not "leave alone": start from Capture and set
// Path, Argv and Env.
type Spec struct {
	Path string   // file to exec, as found; never searched for or canonicalised
	Argv []string // argument vector, Argv[0] included; any bytes but NUL
	Env  []string // environment, KEY=VALUE, in order, duplicates and malformed items kept
	Dir  string   // directory to change to first; "" stays where the process is

	Umask   int       // file mode creation mask
	Nice    int       // -20 to 19
	Limits  []Limit   // resource limits; one that cannot be set is left as it is
	Ignored SignalSet // signals whose disposition is SIG_IGN; all others are SIG_DFL
	Blocked SignalSet // the signal mask
}

// Capture returns the state that this process was started with and the CLI must have, Path, Argv, Env
// and Dir empty. It costs some twenty system calls and reads no file.
//
// In a program linked without EntryFlag, Ignored and Blocked hold only what the Go runtime left as it
// was (SIGHUP, SIGINT, the terminal's stop signals), and the soft limit of open files is the raised one.
func Capture() Spec {
	return Spec{
		Umask:   startUmask(),
		Nice:    currentNice(),
		Limits:  startLimits(),
		Ignored: startIgnored(),
		Blocked: startBlocked(),
	}
}

// currentNice reads the nice value; the system call itself answers 20-nice, so that no error looks like one.
func currentNice() int {
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return 20 - raw
}

func startUmask() int {
	if entryRan {
		return int(entryUmask)
	}
	mask := unix.Umask(0o077)
	unix.Umask(mask)
	return mask
}
