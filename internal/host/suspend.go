package host

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/become"
	"agentwrap/internal/host/wire"
)

// foregroundCheck is how often a relay in the background looks whether it has its terminal again: a shell
// sends no SIGCONT to a job that already runs.
const foregroundCheck = 200 * time.Millisecond

// forwarded are the signals that reach the CLI when they are sent to the shim. Not among them: SIGHUP,
// which means that the terminal leaves; those that a Go program cannot take (SIGKILL, SIGSTOP, faults); and
// SIGURG, which the Go runtime sends to itself.
var forwarded = []os.Signal{
	unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGTERM, unix.SIGTSTP,
	unix.SIGXCPU, unix.SIGXFSZ, unix.SIGVTALRM, unix.SIGIO, unix.SIGPWR,
}

// firstRealtime is the first signal that neither the kernel nor a C library uses.
const firstRealtime, lastRealtime = syscall.Signal(35), syscall.Signal(64)

// followSignals handles this process's signals until the returned function is called.
func (s *session) followSignals() (stop func()) {
	signal.Ignore(unix.SIGTTIN, unix.SIGTTOU) // who has the terminal is looked at instead
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, forwarded...)
	for n := firstRealtime; n <= lastRealtime; n++ {
		signal.Notify(signals, n)
	}
	signal.Notify(signals, unix.SIGHUP, unix.SIGCONT, unix.SIGWINCH, unix.SIGPIPE)
	done := make(chan struct{})
	go s.handleSignals(signals, done)
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

func (s *session) handleSignals(signals <-chan os.Signal, done <-chan struct{}) {
	var check <-chan time.Time
	for {
		select {
		case <-done:
			return
		case <-s.away:
			check = time.After(foregroundCheck)
		case <-check:
			if check = nil; !s.returnTo() {
				check = time.After(foregroundCheck)
			}
		case sig := <-signals:
			s.handleSignal(sig.(syscall.Signal))
		case handled := <-s.flush:
			for more := true; more; {
				select {
				case sig := <-signals:
					s.handleSignal(sig.(syscall.Signal))
				default:
					more = false
				}
			}
			close(handled)
		}
	}
}

func (s *session) handleSignal(sig syscall.Signal) {
	switch sig {
	case unix.SIGPIPE:
	case unix.SIGWINCH:
		s.send(wire.Resize, s.terminal.size().Encode())
	case unix.SIGCONT:
		s.returnTo()
	case unix.SIGHUP:
		s.terminalGone()
	case unix.SIGTERM:
		if s.viewer {
			s.leaving.Store(true)
			_ = unix.Shutdown(s.socket, unix.SHUT_RDWR)
			return
		}
		s.send(wire.Signal, []byte{byte(sig)})
	default:
		s.send(wire.Signal, []byte{byte(sig)})
	}
}

// suspend stops this process as the CLI was stopped, and goes on as the shell lets it.
func (s *session) suspend(payload []byte) {
	state, err := wire.ParseState(payload)
	if err != nil {
		return
	}
	s.job.Lock()
	defer s.job.Unlock()
	s.passSignals()
	if !s.mayStop() {
		return
	}
	s.giveUp(state.Termios)
	become.StopBy(syscall.Signal(state.Signal)) // until `fg` or `bg`
	s.passSignals()
	s.take()
	resume := wire.State{Foreground: s.holds}
	if s.holds {
		resume.Termios = s.terminal.modes
	}
	s.send(wire.Continue, resume.Encode())
}

// mayStop asks the holder whether the CLI is still stopped, behind every signal that was passed on: one may have
// ended it or had it continued meanwhile.
func (s *session) mayStop() bool {
	s.send(wire.Stopping, nil)
	for {
		t, payload, err := s.frames.Wait(s.socket)
		switch {
		case err != nil:
			return false // which the relay sees next
		case t == wire.Stay:
			return true
		case t == wire.Resumed:
			return false
		default:
			if s.show(t, payload) {
				return false
			}
		}
	}
}

// passSignals returns when every signal that this process got so far is passed on: a `kill` of a stopped job
// sends SIGTERM and then SIGCONT, and the CLI must have the first before it goes on.
func (s *session) passSignals() {
	idle := make(chan os.Signal, 1)
	signal.Notify(idle, unix.SIGCONT)
	signal.Stop(idle) // waits until os/signal has handed out what it has
	handled := make(chan struct{})
	s.flush <- handled
	<-handled
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// returnTo is called when this process may have its terminal again; it tells whether it has. What gives up or
// takes the terminal just now is not waited for: it looks by itself.
func (s *session) returnTo() bool {
	if !s.job.TryLock() {
		return false
	}
	defer s.job.Unlock()
	held := s.holds
	s.take()
	if s.holds && !held {
		s.send(wire.Continue, wire.State{Foreground: true, Termios: s.terminal.modes}.Encode())
	}
	return s.holds
}

func (s *session) takeTerminal() {
	s.job.Lock()
	defer s.job.Unlock()
	s.take()
}

func (s *session) giveTerminal(modes *unix.Termios) {
	s.job.Lock()
	defer s.job.Unlock()
	s.giveUp(modes)
}

// take takes the terminal where this process's group has it. One that is held already was perhaps set
// otherwise by a shell meanwhile. job is held.
func (s *session) take() {
	if !s.terminal.foreground() {
		s.holds = false
		s.keyboard.open(false)
		notify(s.away)
		return
	}
	if !s.holds {
		s.terminal.note()
	}
	s.holds = true
	s.terminal.raw()
	s.send(wire.Resize, s.terminal.size().Encode())
	s.keyboard.open(true)
}

// giveUp gives the terminal the modes the CLI left, or its own. job is held.
func (s *session) giveUp(modes *unix.Termios) {
	s.keyboard.open(false)
	if s.holds {
		s.terminal.restore(modes)
	}
	s.holds = false
}
