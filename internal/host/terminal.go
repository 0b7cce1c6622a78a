package host

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// terminal is the one that this process runs on: descriptors 0 and 1.
type terminal struct {
	in, out int
	device  uint64
	modes   *unix.Termios // what the CLI's terminal starts with and this one gets back
}

// openTerminal looks at the terminal this process runs on; an error says that there is none to relay.
func openTerminal() (*terminal, error) {
	t := &terminal{in: 0, out: 1}
	var in, out unix.Stat_t
	if err := errors.Join(unix.Fstat(t.in, &in), unix.Fstat(t.out, &out)); err != nil {
		return nil, err
	}
	modes, err := unix.IoctlGetTermios(t.in, unix.TCGETS)
	if err != nil {
		return nil, fmt.Errorf("standard input is not a terminal: %w", err)
	}
	if in.Rdev != out.Rdev || in.Mode&unix.S_IFMT != unix.S_IFCHR {
		return nil, errors.New("standard input and output are not one terminal")
	}
	if _, err := unix.IoctlGetInt(t.in, unix.TIOCGPGRP); err != nil {
		return nil, fmt.Errorf("standard input is not this session's terminal: %w", err)
	}
	t.device, t.modes = in.Rdev, modes
	return t, nil
}

// same tells whether a descriptor is this terminal, by its own name or by /dev/tty.
func (t *terminal) same(fd int) bool {
	if t == nil {
		return false
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return false
	}
	return st.Rdev == t.device || st.Rdev == unix.Mkdev(5, 0)
}

// foreground tells whether this process's group has the terminal.
func (t *terminal) foreground() bool {
	group, err := unix.IoctlGetInt(t.in, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// raw lets every byte through as it is. Typed-ahead input stays.
func (t *terminal) raw() {
	modes := *t.modes
	modes.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL |
		unix.IXON | unix.IXOFF | unix.IUCLC | unix.IMAXBEL | unix.INPCK
	modes.Oflag &^= unix.OPOST
	modes.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN | unix.TOSTOP
	modes.Cflag = modes.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(t.in, unix.TCSETS, &modes)
}

// note takes what the terminal is set to now for what it gets back.
func (t *terminal) note() {
	if modes, err := unix.IoctlGetTermios(t.in, unix.TCGETS); err == nil {
		t.modes = modes
	}
}

// restore gives the terminal the modes that the CLI left, or its own where they are not known.
func (t *terminal) restore(modes *unix.Termios) {
	if modes == nil {
		modes = t.modes
	}
	if t.foreground() {
		_ = unix.IoctlSetTermios(t.in, unix.TCSETS, modes)
	}
}

func (t *terminal) size() Size {
	ws, err := unix.IoctlGetWinsize(t.out, unix.TIOCGWINSZ)
	if err != nil {
		return Size{}
	}
	return Size{Rows: ws.Row, Columns: ws.Col, XPixels: ws.Xpixel, YPixels: ws.Ypixel}
}

// writeAll writes to a descriptor that may be non-blocking for others who share it.
func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		b = b[max(n, 0):]
		switch err {
		case nil, unix.EINTR:
		case unix.EAGAIN:
			await(fd, unix.POLLOUT)
		default:
			return err
		}
	}
	return nil
}

// readSome reads once; at the end, and where a terminal was hung up, the error is not nil.
func readSome(fd int, b []byte) (int, error) {
	for {
		n, err := unix.Read(fd, b)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			await(fd, unix.POLLIN)
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// await blocks until something can be done with a descriptor.
func await(fd int, events int16) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
	for {
		if _, err := unix.Poll(fds, -1); err != unix.EINTR {
			return
		}
	}
}
