package isolate

import (
	"fmt"
	"os"
	"path/filepath"
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
		{"cover " + sharedTmp, coverTmp},
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

// sharedTmp is where programs write that do not heed TMPDIR.
const sharedTmp = "/tmp"

// coverTmp lays a layer in memory over /tmp, which takes every write to it but those below the shared folder, if a test
// wants one.
func coverTmp() error {
	shared := os.Getenv(sharedVar)
	if shared == "" {
		return nil
	}
	tree, err := unix.OpenTree(unix.AT_FDCWD, shared, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open %s: %w", shared, err)
	}
	defer unix.Close(tree)
	layer := filepath.Join(shared, layerDir)
	if err := unix.Mount("tmpfs", layer, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0700"); err != nil {
		return fmt.Errorf("mount a layer: %w", err)
	}
	upper, work := filepath.Join(layer, "upper"), filepath.Join(layer, "work")
	for _, dir := range []string{upper, work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.Chmod(upper, 0o777|os.ModeSticky); err != nil {
		return err
	}
	options := fmt.Sprintf("userxattr,lowerdir=%s,upperdir=%s,workdir=%s", sharedTmp, upper, work)
	if err := unix.Mount("overlay", sharedTmp, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return err
	}
	return unix.MoveMount(tree, "", unix.AT_FDCWD, shared, unix.MOVE_MOUNT_F_EMPTY_PATH)
}
