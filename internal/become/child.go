package become

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"

	"golang.org/x/sys/unix"

	"agentwrap/internal/fdpass"
)

// ChildVerb is the word by which a program gets to ChildMain when it is called as agentwrap.
const ChildVerb = "become"

// ErrNotExeced is wrapped by every error that says that the child never became the CLI.
var ErrNotExeced = errors.New("the program was not started")

// Child is a process forked to become a CLI and held before it does, so that its pid can be recorded
// first. It is this program again; one goroutine at a time may use it.
type Child struct {
	PID     int
	control int // socket to the child, closed by its exec
}

// controlFD is the child's end of the control socket, the first descriptor after its terminal.
const controlFD = 3

// StartChild starts a child on terminal, a descriptor of the controlling terminal of this session, in a
// process group of its own in the foreground. self is the path of a program whose main calls ChildMain.
func StartChild(self string, terminal int) (*Child, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make the child's socket: %w", err)
	}
	defer unix.Close(pair[1])
	tty := uintptr(terminal)
	pid, err := syscall.ForkExec(self, []string{"agentwrap", ChildVerb}, &syscall.ProcAttr{
		Files: []uintptr{tty, tty, tty, uintptr(pair[1])},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: terminal},
	})
	if err != nil {
		unix.Close(pair[0])
		return nil, fmt.Errorf("start %s: %w", self, err)
	}
	return &Child{PID: pid, control: pair[0]}, nil
}

// Prepare hands the child what it is to become and the descriptors it is to have beside its terminal.
func (c *Child) Prepare(s Spec, files []File) error {
	fds, order := orderOf(s, files)
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(order)))
	if err := fdpass.Send(c.control, append(head, order...), nil); err != nil {
		return fmt.Errorf("%w: hand over: %w", ErrNotExeced, err)
	}
	for len(fds) > 0 {
		n := min(len(fds), fdpass.Batch)
		if err := fdpass.Send(c.control, []byte{batchByte}, fds[:n]); err != nil {
			return fmt.Errorf("%w: hand over descriptors: %w", ErrNotExeced, err)
		}
		fds = fds[n:]
	}
	return nil
}

// Release lets the child exec and returns when it has, or with an error that wraps ErrNotExeced and, where
// exec itself failed, its errno; the child has then ended and is for the caller to wait for.
func (c *Child) Release() error {
	defer c.Abandon()
	if err := fdpass.Send(c.control, []byte{goByte}, nil); err != nil {
		return fmt.Errorf("%w: %w", ErrNotExeced, err)
	}
	report, err := io.ReadAll(socketReader(c.control))
	if len(report) < 4 {
		return err // closed by exec, or by a death that the wait will tell
	}
	errno := syscall.Errno(binary.LittleEndian.Uint32(report))
	return fmt.Errorf("%w: %s: %w", ErrNotExeced, report[4:], errno)
}

// Abandon ends a child that was not released; it is for the caller to wait for. After Release it does
// nothing.
func (c *Child) Abandon() {
	if c.control >= 0 {
		unix.Close(c.control)
		c.control = -1
	}
}

// socketReader reads from a blocking socket without the runtime's poller.
type socketReader int

func (fd socketReader) Read(buf []byte) (int, error) {
	for {
		n, err := unix.Read(int(fd), buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}
