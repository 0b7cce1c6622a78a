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

// holderWait is how long a holder may take to get in touch.
const holderWait = time.Second

// errNoHolder says that no holder got in touch in time.
var errNoHolder = errors.New("no holder got in touch")

// startHolder starts a holder, in a pane of a tmux server of its own where that can be had, and returns the
// socket on which it said who it is.
func (s *start) startHolder() (int, error) {
	if s.tmux.Program != "" {
		size := s.size()
		pid, err := s.tmux.Start(size.Rows, size.Columns, []string{s.Self, HoldVerb, s.socket})
		if err == nil {
			if socket, err := s.awaitHolder(pid, true); err == nil {
				return socket, nil
			}
			s.dropServer()
		}
	}
	pid, err := s.spawnHolder()
	if err != nil {
		return -1, err
	}
	return s.awaitHolder(pid, false)
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

// dropServer ends a server that did not bring a holder, without keeping the launch from going on.
func (s *start) dropServer() {
	server, dropped := s.tmux, make(chan struct{})
	s.dropped = dropped
	go func() {
		defer close(dropped)
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

// awaitHolder takes the connection of a holder, whoever started it, and greets it. Process pid was started to
// bring it: where it only asks for one its success proves nothing, else its end proves that none will come.
// When none comes the process is ended.
func (s *start) awaitHolder(pid int, asks bool) (int, error) {
	deadline := time.Now().Add(holderWait)
	watched := []unix.PollFd{{Fd: int32(s.listener), Events: unix.POLLIN}, {Fd: -1, Events: unix.POLLIN}}
	if ended, err := unix.PidfdOpen(pid, 0); err == nil {
		defer unix.Close(ended)
		watched[1].Fd = int32(ended)
	}
	for {
		left := time.Until(deadline)
		if left <= 0 {
			_ = unix.Kill(-pid, unix.SIGKILL) // it leads a session of its own
			_, _ = unix.Wait4(pid, nil, 0, nil)
			return -1, fmt.Errorf("%w within %v", errNoHolder, holderWait)
		}
		if _, err := unix.Poll(watched, int(left/time.Millisecond)+1); err != nil && err != unix.EINTR {
			return -1, err
		}
		if watched[0].Revents != 0 {
			if socket, err := s.greetHolder(); err == nil {
				return socket, nil
			}
		}
		if watched[1].Revents != 0 {
			var status unix.WaitStatus
			_, _ = unix.Wait4(pid, &status, 0, nil)
			if !asks || status != 0 {
				return -1, fmt.Errorf("%w before process %d ended", errNoHolder, pid)
			}
			watched[1].Fd = -1
		}
	}
}

// greetHolder takes one connection, bounded in time, and proves that a holder is at its other end.
func (s *start) greetHolder() (int, error) {
	socket, err := accept(s.listener, 0)
	if err != nil {
		return -1, err
	}
	var frames wire.Reader
	if err = greet(socket, &frames, wire.Terminal, wire.Holder); err != nil {
		unix.Close(socket)
		return -1, err
	}
	return socket, nil
}

// greetWait is how long the other side may take for its greeting.
const greetWait = time.Second

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
