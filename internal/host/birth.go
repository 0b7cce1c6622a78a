package host

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"agentwrap/internal/become"
	"agentwrap/internal/host/wire"
	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/tmuxhost"
)

// begin makes the terminal, gets the launch and starts the CLI; it returns the launcher, greeted. After an
// error the CLI was not started, and the launcher knows.
func (h *holder) begin(path string) (*client, error) {
	terminal := h.openTerminal()
	socket, err := connect(path)
	if err != nil {
		h.abandon()
		return nil, err
	}
	launcher := newClient(h, socket)
	err = greet(socket, &launcher.frames, wire.Holder, wire.Terminal)
	if err == nil {
		err = errors.Join(terminal, h.mail.open())
	}
	if err == nil {
		err = h.takeOrder(launcher)
	}
	h.openMirror()
	h.output.filter.Asked = h.asked
	if err == nil {
		err = h.startCLI(launcher)
	}
	if err != nil {
		h.abandon()
		h.unlinkSockets()
		_ = wire.Send(socket, wire.Refused, []byte(err.Error()))
	}
	return launcher, err
}

// openTerminal makes the CLI's terminal, makes it the controlling terminal of this process's session in
// place of a pane's, and forks the child that waits to become the CLI. This process leads the session, so
// that the CLI's group, which is another, has a parent in it: a group without one is not stopped by ^Z.
func (h *holder) openTerminal() error {
	if err := h.openPTY(); err != nil {
		return fmt.Errorf("make a terminal: %w", err)
	}
	if err := unix.IoctlSetInt(0, unix.TIOCNOTTY, 0); err != nil && err != unix.ENOTTY {
		return fmt.Errorf("leave the old terminal: %w", err)
	}
	if err := unix.IoctlSetInt(h.slave, unix.TIOCSCTTY, 0); err != nil {
		return fmt.Errorf("take the new terminal: %w", err)
	}
	var err error
	h.cli.child, err = become.StartChild("/proc/self/exe", h.slave)
	return err
}

func (h *holder) openPTY() error {
	master, slave, err := pty.Open()
	if err != nil {
		return err
	}
	defer master.Close()
	defer slave.Close()
	h.tty = slave.Name()
	var fds [2]int
	for i, file := range []*os.File{master, slave} {
		if fds[i], err = unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			return err
		}
	}
	h.master, h.slave = fds[0], fds[1]
	return unix.SetNonblock(h.master, true)
}

// abandon ends a child that has not become the CLI.
func (h *holder) abandon() {
	if h.cli.child != nil {
		h.cli.child.Abandon()
		_, _ = unix.Wait4(h.cli.child.PID, nil, 0, nil)
	}
}

// takeOrder reads the launch and its descriptors, of which the listening socket comes first.
func (h *holder) takeOrder(launcher *client) error {
	frames := &launcher.frames
	t, payload, err := frames.Wait(launcher.fd)
	if err != nil {
		return err
	}
	if t != wire.Launch {
		return fmt.Errorf("frame %q where the launch was expected", t)
	}
	if h.order, err = wire.ParseOrder(payload); err != nil {
		return err
	}
	want := 1
	for _, file := range h.order.Files {
		if file.Sent {
			want++
		}
	}
	for len(frames.Files) < want {
		if t, _, err := frames.Wait(launcher.fd); err != nil || t != wire.Files {
			return fmt.Errorf("frame %q where descriptors were expected: %w", t, err)
		}
	}
	h.listener, h.received, frames.Files = frames.Files[0], frames.Files[1:], nil
	h.store, h.size = ledger.Open(h.order.LedgerRoot), h.order.Size
	return unix.SetNonblock(h.listener, true)
}

// startCLI prepares the terminal and the child, records the child as the session's process and lets it go.
func (h *holder) startCLI(launcher *client) error {
	if h.order.Termios != nil {
		_ = unix.IoctlSetTermios(h.slave, unix.TCSETS, h.order.Termios)
	}
	h.applySize()
	if h.order.Background {
		h.cli.background = true
		h.giveForeground(os.Getpid())
	}
	spec, err := become.Decode(h.order.Spec)
	if err != nil {
		return err
	}
	err = h.cli.child.Prepare(spec, h.files())
	for _, fd := range h.received {
		unix.Close(fd)
	}
	if err != nil {
		return err
	}
	h.recordBirth()
	if err := wire.Send(launcher.fd, wire.Starting, nil); err != nil {
		h.forgetBirth()
		return err
	}
	if err := h.cli.child.Release(); err != nil {
		h.forgetBirth()
		return err
	}
	go h.lookAfter(ownersEnvironment(spec.Env))
	h.output.begun = make(chan struct{})
	go h.enterScope(spec.Env, h.ownServer(), h.output.begun)
	return nil
}

// files are the descriptors of the order as they came, for the child.
func (h *holder) files() []become.File {
	files := make([]become.File, len(h.order.Files))
	next := h.received
	for i, file := range h.order.Files {
		files[i] = become.File{Number: file.Number, FD: become.Terminal}
		if file.Sent {
			files[i].FD, next = next[0], next[1:]
		}
	}
	return files
}

// birthWait is how long a launch waits for the entry's lock.
const birthWait = 250 * time.Millisecond

// recordBirth writes the process that is about to become the CLI, and where it can be reached, into the
// session's entry. A ledger that fails does not stop the CLI: the sweep finds it by its environment.
func (h *holder) recordBirth() {
	pid := h.cli.child.PID
	stat, err := process.ReadStat(pid)
	if err != nil {
		return
	}
	h.cli.startTicks = stat.StartTicks
	_ = h.store.Update(h.order.LedgerID, ledger.Within(birthWait), func(e *ledger.Entry) error {
		e.PID, e.PIDStartTicks = ledger.Ptr(pid), ledger.Ptr(stat.StartTicks)
		e.TTY = ledger.Known(h.tty)
		e.LauncherPID = ledger.Ptr(os.Getpid())
		e.HostSocket = ledger.Known(h.order.Socket)
		if h.mirror != nil {
			socket := h.mirror.server.Socket
			e.Mux = ledger.Mux{Kind: ledger.Ptr(ledger.MuxTmux), Socket: ledger.Ptr(socket), Target: ledger.Ptr(tmuxhost.Session)}
			e.TmuxSession, e.TmuxSocket = ledger.Ptr(tmuxhost.Session), ledger.Ptr(socket)
		}
		return nil
	})
}

// forgetBirth takes back what recordBirth wrote, for a CLI that was not started here.
func (h *holder) forgetBirth() {
	_ = h.store.Update(h.order.LedgerID, ledger.Within(birthWait), func(e *ledger.Entry) error {
		if ledger.Value(e.PID) != h.cli.child.PID {
			return ledger.ErrUnchanged
		}
		e.PID, e.PIDStartTicks, e.TTY, e.HostSocket = nil, nil, nil, nil
		e.Mux, e.TmuxSession, e.TmuxSocket = ledger.Mux{}, nil, nil
		return nil
	})
}
