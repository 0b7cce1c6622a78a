package become

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// SignalSet is a set of signals, bit n-1 for signal n, as in the Sig lines of /proc/PID/status.
type SignalSet uint64

// Has tells whether signal n, 1 to 64, is in the set.
func (s SignalSet) Has(n int) bool { return s&(1<<(n-1)) != 0 }

const (
	lastSignal  = 64
	sigSetBytes = 8 // size of the kernel's sigset_t
	sigDefault  = 0 // SIG_DFL
	sigIgnore   = 1 // SIG_IGN
	howSetMask  = 2 // SIG_SETMASK
	howBlock    = 0 // SIG_BLOCK
)

// sigaction is the kernel's struct sigaction of amd64 and arm64.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// rtSigaction is rt_sigaction(2) beside the runtime's own table, which knows only what os/signal can do:
// there, ignoring cannot be told from what was inherited, and is never undone.
func rtSigaction(signal int, set, old *sigaction) bool {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), sigSetBytes, 0, 0)
	return errno == 0
}

func startIgnored() SignalSet {
	if entryRan {
		return entryIgnored
	}
	var ignored SignalSet
	for n := 1; n <= lastSignal; n++ {
		var now sigaction
		if rtSigaction(n, nil, &now) && now.handler == sigIgnore {
			ignored |= 1 << (n - 1)
		}
	}
	return ignored
}

func startBlocked() SignalSet {
	if entryRan {
		return entryBlocked
	}
	return threadMask(howBlock, nil)
}

// threadMask changes the calling thread's signal mask and returns what it was.
func threadMask(how int, set *SignalSet) (old SignalSet) {
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, uintptr(how),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(&old)), sigSetBytes, 0, 0)
	return old
}

// applyDispositions makes exactly the signals of ignored ignored by the program that is exec'd next: exec
// itself resets handlers, and only them. It returns how to put this process's own dispositions back.
func applyDispositions(ignored SignalSet) (undo func()) {
	var changed [lastSignal + 1]*sigaction
	for n := 1; n <= lastSignal; n++ {
		var old sigaction
		if !rtSigaction(n, nil, &old) {
			continue
		}
		want := sigaction{handler: sigDefault}
		if ignored.Has(n) {
			want.handler = sigIgnore
		}
		if (old.handler == sigIgnore) != ignored.Has(n) && rtSigaction(n, &want, nil) {
			changed[n] = &old
		}
	}
	return func() {
		for n, old := range changed {
			if old != nil {
				rtSigaction(n, old, nil)
			}
		}
	}
}
