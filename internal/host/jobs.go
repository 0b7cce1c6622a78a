package host

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/wire"
	"agentwrap/internal/process"
)

// catchSignals takes over the signals that would end or stop this process: handlers, because what is ignored
// here a child would ignore too. The CLI gets its own from whoever sends them to it.
func catchSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGCHLD, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGPIPE)
	signal.Ignore(unix.SIGTTIN, unix.SIGTTOU) // as the terminal's owner it acts on it from the background
	return signals
}

func (h *holder) passSignals(signals <-chan os.Signal) {
	for sig := range signals {
		if sig == unix.SIGCHLD {
			h.mail.post(h.reap)
		}
	}
}

// reap takes what the kernel has to tell about the CLI.
func (h *holder) reap() {
	for !h.cli.ended {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(h.cli.child.PID, &status, syscall.WNOHANG|syscall.WUNTRACED|syscall.WCONTINUED, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid != h.cli.child.PID {
			return
		}
		switch {
		case status.Continued():
			h.cli.stopped = false
		case status.Stopped():
			h.stopped(status.StopSignal())
		default:
			h.ended(status)
		}
	}
}

// stopped has the newest terminal's process stop too, once it has shown all that came before.
func (h *holder) stopped(sig syscall.Signal) {
	h.cli.stopped, h.cli.stoppedBy = true, sig
	if h.signalWaits() {
		h.goOn()
		return
	}
	if h.newest == nil {
		h.goOnAlone(sig)
		return
	}
	h.behindOutput(func() {
		if h.newest == nil {
			h.goOnAlone(sig)
			return
		}
		h.newest.send(wire.Stopped, wire.State{Signal: int(sig), Termios: h.termios()}.Encode())
	})
}

// goOnAlone continues a CLI that was stopped from a terminal when there is no shell that ever would: natively
// the kernel does not stop an orphaned process group, and continues one that becomes one. A SIGSTOP was
// somebody's will.
func (h *holder) goOnAlone(sig syscall.Signal) {
	if sig != unix.SIGSTOP {
		h.resume(wire.State{Foreground: true})
	}
}

// resume continues the CLI, in the foreground of its terminal or, as `bg` does, in its background.
func (h *holder) resume(state wire.State) {
	if h.cli.ended {
		return
	}
	group := h.cli.child.PID
	if !state.Foreground {
		group = os.Getpid()
	}
	h.giveForeground(group)
	h.cli.background = !state.Foreground
	if state.Termios != nil {
		_ = unix.IoctlSetTermios(h.slave, unix.TCSETS, state.Termios)
	}
	h.cli.stopped = false
	_ = unix.Kill(-h.cli.child.PID, unix.SIGCONT)
}

func (h *holder) giveForeground(group int) {
	_ = unix.IoctlSetPointerInt(h.slave, unix.TIOCSPGRP, group)
}

// termios is how the CLI's terminal is set now; nil where that cannot be told.
func (h *holder) termios() *unix.Termios {
	modes, err := unix.IoctlGetTermios(h.slave, unix.TCGETS)
	if err != nil {
		return nil
	}
	return modes
}

// signal sends the CLI a signal; it is there as long as it is not reaped, which only the loop does.
func (h *holder) signal(sig syscall.Signal) error {
	if h.cli.ended {
		return unix.ESRCH
	}
	err := unix.Kill(h.cli.child.PID, sig)
	if h.cli.stopped && h.signalWaits() {
		h.goOn()
	}
	return err
}

// signalWaits tells whether the CLI was stopped for using its terminal from the background with a signal still to
// act on. Whoever passed that on was running: natively the CLI in its place would have been, and would have had
// the signal before it used the terminal.
func (h *holder) signalWaits() bool {
	if !h.cli.background {
		return false
	}
	waiting, err := process.Waiting(h.cli.child.PID)
	return err == nil && waiting != 0
}

func (h *holder) goOn() {
	h.cli.stopped = false
	_ = unix.Kill(h.cli.child.PID, unix.SIGCONT)
}

// resize sets the size of the CLI's terminal and of its mirror.
func (h *holder) resize(size Size) {
	if size.Rows == 0 || size.Columns == 0 || size == h.size {
		return
	}
	cells := size.Rows != h.size.Rows || size.Columns != h.size.Columns
	h.size = size
	h.applySize()
	if cells {
		h.mirror.resize(size)
	}
}

func (h *holder) applySize() {
	s := h.size
	_ = unix.IoctlSetWinsize(h.master, unix.TIOCSWINSZ, &unix.Winsize{Row: s.Rows, Col: s.Columns, Xpixel: s.XPixels, Ypixel: s.YPixels})
}
