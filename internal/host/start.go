package host

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/wire"
)

// tmuxWait is how long tmux alone may take to bring a holder; then one without it is started too, and whichever
// comes first is taken. A variable for the tests, which know how slow their machine is.
var tmuxWait = time.Second

// holderWait bounds the wait for either: on a machine that is busy beyond that, the CLI starts in place.
const holderWait = 15 * time.Second

// errNoHolder says that no holder got in touch in time.
var errNoHolder = errors.New("no holder got in touch")

// startHolder starts a holder, in a pane of a tmux server of its own where that can be had, and returns the
// socket on which it said who it is.
func (s *start) startHolder() (int, error) {
	if s.tmux.Program != "" {
		size := s.size()
		pid, err := s.tmux.Start(size.Rows, size.Columns, []string{s.Self, HoldVerb, s.socket})
		if err == nil {
			asks := watch(pid)
			socket, _, err := s.awaitHolder(asks, true, tmuxWait)
			if err == nil {
				return socket, nil
			}
			return s.startAlone(asks)
		}
	}
	return s.startAlone(nil)
}

// startAlone starts a holder without tmux, and takes the first that gets in touch: asks, where it is not nil,
// asked tmux for one in vain so far. tmux is dropped where it did not bring it.
func (s *start) startAlone(asks *helper) (int, error) {
	pid, err := s.spawnHolder()
	if err != nil {
		s.dropServer(asks)
		return -1, err
	}
	alone := watch(pid)
	socket, peer, err := s.awaitHolder(alone, false, holderWait)
	if err != nil {
		alone.end()
	}
	if err != nil || peer == pid {
		s.dropServer(asks)
	}
	return socket, err
}

// size is that of the terminal, or the usual one where it has none.
func (s *start) size() Size {
	var size Size
	if s.Detached != nil {
		size = *s.Detached
	} else {
		size = s.terminal.size()
	}
	if size.Rows == 0 || size.Columns == 0 {
		size.Rows, size.Columns = 24, 80
	}
	return size
}

// dropServer ends a server that did not bring the holder, and the process that asked for it, without keeping
// the launch from going on.
func (s *start) dropServer(asks *helper) {
	if asks == nil {
		return
	}
	server, dropped := s.tmux, make(chan struct{})
	s.dropped = dropped
	go func() {
		defer close(dropped)
		asks.end()
		_ = server.End()
		_ = unix.Unlink(server.Socket)
	}()
}

// dropWait is how long a launch that is over waits for dropServer.
const dropWait = 300 * time.Millisecond

func (s *start) close() {
	unix.Close(s.listener)
	if s.dropped != nil {
		select {
		case <-s.dropped:
		case <-time.After(dropWait):
		}
	}
}

// spawnHolder starts a holder that belongs to no terminal and no session of this process's.
func (s *start) spawnHolder() (pid int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	pid, err = syscall.ForkExec(s.Self, []string{"agentwrap", HoldVerb, s.socket}, &syscall.ProcAttr{
		Dir: "/", Env: holderEnv(), Files: []uintptr{null.Fd(), null.Fd(), null.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", s.Self, err)
	}
	return pid, nil
}

// awaitHolder takes the connection of a holder, whoever started it, greets it, and tells its pid. Process by was
// started to bring it: where it only asks for one its success proves nothing, else its end proves that none will
// come.
func (s *start) awaitHolder(by *helper, asks bool, wait time.Duration) (socket, pid int, err error) {
	watched := []unix.PollFd{{Fd: int32(s.listener), Events: unix.POLLIN}, {Fd: int32(by.pidfd), Events: unix.POLLIN}}
	for deadline := time.Now().Add(wait); ; {
		left := time.Until(deadline)
		if left <= 0 {
			return -1, 0, fmt.Errorf("%w within %v", errNoHolder, wait)
		}
		if _, err := unix.Poll(watched, int(left/time.Millisecond)+1); err != nil && err != unix.EINTR {
			return -1, 0, err
		}
		if watched[0].Revents != 0 {
			if socket, pid, err := s.greetHolder(); err == nil {
				return socket, pid, nil
			}
		}
		if watched[1].Revents != 0 {
			if status := by.reap(); !asks || status != 0 {
				return -1, 0, fmt.Errorf("%w before process %d ended", errNoHolder, by.pid)
			}
			watched[1].Fd = -1
		}
	}
}

// greetHolder takes one connection, bounded in time, and proves that a holder is at its other end.
func (s *start) greetHolder() (socket, pid int, err error) {
	if socket, err = accept(s.listener, 0); err != nil {
		return -1, 0, err
	}
	peer, err := unix.GetsockoptUcred(socket, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err == nil {
		err = greet(socket, new(wire.Reader), wire.Terminal, wire.Holder)
	}
	if err != nil {
		unix.Close(socket)
		return -1, 0, err
	}
	return socket, int(peer.Pid), nil
}

// helper is a child that was started to bring a holder. It leads a session of its own.
type helper struct {
	pid    int
	pidfd  int // -1 where the kernel has none
	reaped bool
}

func watch(pid int) *helper {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		pidfd = -1
	}
	return &helper{pid: pid, pidfd: pidfd}
}

func (h *helper) reap() (status unix.WaitStatus) {
	_, _ = unix.Wait4(h.pid, &status, 0, nil)
	unix.Close(h.pidfd)
	h.reaped = true
	return status
}

// end kills it with all its session, if it still runs.
func (h *helper) end() {
	if !h.reaped {
		_ = unix.Kill(-h.pid, unix.SIGKILL)
		h.reap()
	}
}

// greetWait is how long the other side may take for its greeting.
const greetWait = 5 * time.Second

// greet exchanges greetings on a blocking socket: this side is own, the other must be want.
func greet(socket int, frames *wire.Reader, own, want wire.Role) error {
	if err := wire.Send(socket, wire.Hello, wire.Greet(own)); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	limitReads(socket, greetWait)
	defer limitReads(socket, 0)
	t, payload, err := frames.Wait(socket)
	if err != nil {
		return fmt.Errorf("wait for a greeting: %w", err)
	}
	greeting, err := wire.ParseGreeting(payload)
	if err == nil && (t != wire.Hello || greeting.Role != want) {
		err = fmt.Errorf("unexpected greeting %q of role %d", t, greeting.Role)
	}
	return err
}

// limitReads bounds how long a read from a blocking socket waits; 0 is without bound.
func limitReads(socket int, d time.Duration) {
	tv := unix.NsecToTimeval(int64(d))
	_ = unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv)
}
