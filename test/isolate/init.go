package isolate

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// runInit is process 1 of the namespaces: it prepares them, runs the test, and reaps every orphan until the test ends.
func runInit() int {
	// Capabilities and the fork below belong to one thread.
	runtime.LockOSThread()
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"make mounts private", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"mount /proc", func() error {
			return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
		}},
		{"bring loopback up", loopbackUp},
		{"drop capabilities", func() error { return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) }},
	} {
		if err := step.do(); err != nil {
			fmt.Fprintf(os.Stderr, "isolate: %s: %v\n", step.name, err)
			return 1
		}
	}
	os.Setenv(roleVar, roleInside)
	child, err := os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		fmt.Fprintf(os.Stderr, "isolate: start the test: %v\n", err)
		return 1
	}
	return reapUntil(child.Pid)
}

func reapUntil(pid int) int {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			fmt.Fprintf(os.Stderr, "isolate: wait: %v\n", err)
			return 1
		case got == pid && status.Signaled():
			return 128 + int(status.Signal())
		case got == pid:
			return status.ExitStatus()
		}
	}
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}
