package host

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"agentwrap/internal/become"
)

// inheritance is what this process was started with open, for the CLI to have instead.
type inheritance struct {
	files []become.File
	extra []int // descriptors from 3 up, which stay open here until the CLI has them
}

// inherit finds the descriptors that this process was started with: those from 3 up that exec keeps, since
// all that a Go program opens itself is close-on-exec; 0 to 2 where they are not the terminal; and the
// working directory. Copies of the terminal become the CLI's own terminal. From now on no process that is
// started to host inherits them.
func inherit(terminal *terminal) (inheritance, error) {
	var in inheritance
	dir, err := unix.Open(".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return in, err
	}
	in.files = append(in.files, become.File{Number: become.WorkingDir, FD: dir})
	for fd := range 3 {
		// Without a terminal they are between the launcher and whoever called it.
		if terminal != nil && !terminal.same(fd) && isOpen(fd) {
			in.files = append(in.files, become.File{Number: fd, FD: fd})
		}
	}
	for _, fd := range openDescriptors() {
		if fd < 3 || !inheritable(fd) {
			continue
		}
		file := become.File{Number: fd, FD: fd}
		if terminal.same(fd) {
			file.FD = become.Terminal
		}
		in.files = append(in.files, file)
		in.extra = append(in.extra, fd)
		unix.CloseOnExec(fd)
	}
	return in, nil
}

// keep undoes inherit, for a CLI that is started in place after all.
func (in inheritance) keep() {
	for _, fd := range in.extra {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
	}
	in.close(become.WorkingDir)
}

// hand leaves the descriptors to the CLI alone, as where it was started in place.
func (in inheritance) hand() {
	for _, fd := range in.extra {
		unix.Close(fd)
	}
	in.close(become.WorkingDir)
}

func (in inheritance) close(number int) {
	for _, file := range in.files {
		if file.Number == number {
			unix.Close(file.FD)
		}
	}
}

func openDescriptors() (fds []int) {
	names, _ := os.ReadDir("/proc/self/fd")
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds
}

func isOpen(fd int) bool {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil
}

// inheritable tells whether a descriptor is open and would survive an exec.
func inheritable(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}
