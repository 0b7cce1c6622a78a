package become

import (
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// InPlace execs the program of s in this process and returns only when that failed, the process then
// being fit to try another. The error names the path and wraps the errno of chdir(2) or execve(2).
func InPlace(s Spec) error {
	runtime.LockOSThread() // mask and priority belong to the thread that execs
	defer runtime.UnlockOSThread()
	if s.Dir != "" {
		if err := unix.Chdir(s.Dir); err != nil {
			return fmt.Errorf("change to directory %s: %w", s.Dir, err)
		}
	}
	unix.Umask(s.Umask)
	if s.Nice != currentNice() {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, s.Nice)
	}
	for _, limit := range s.Limits {
		limit.apply()
	}
	undo := applyDispositions(s.Ignored)
	mask := threadMask(howSetMask, &s.Blocked)
	err := syscall.Exec(s.Path, s.Argv, s.Env)
	threadMask(howSetMask, &mask)
	undo()
	return fmt.Errorf("exec %s: %w", s.Path, err)
}
