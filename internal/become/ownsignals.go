package become

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// DieBy ends this process by a signal, as a CLI that it stood for was: its parent sees that signal, no core
// is written again. It exits with 128 plus the signal where the signal does not kill.
func DieBy(signal syscall.Signal) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	runtime.LockOSThread()
	rtSigaction(int(signal), &sigaction{handler: sigDefault}, nil)
	unblock := SignalSet(0)
	threadMask(howSetMask, &unblock)
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), signal) // delivered before it returns
	os.Exit(128 + int(signal))
}

// StopBy stops this process by a signal that stops, as a CLI that it stands for was, and returns when it is
// continued, or at once where the kernel does not stop it: in an orphaned process group. A stop that came
// from the terminal stops the rest of the process group too, as it would have natively.
func StopBy(signal syscall.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if signal != unix.SIGSTOP {
		var own sigaction
		rtSigaction(int(signal), &sigaction{handler: sigIgnore}, &own)
		defer rtSigaction(int(signal), &own, nil)
		_ = unix.Kill(0, signal) // the others: this process ignores it for now
		rtSigaction(int(signal), &sigaction{handler: sigDefault}, nil)
	}
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), signal) // delivered before it returns
}
