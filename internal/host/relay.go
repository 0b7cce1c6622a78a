package host

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/ctlseq"
	"agentwrap/internal/host/wire"
)

// session is this process's terminal joined to a holder.
type session struct {
	socket   int
	frames   wire.Reader
	id       string
	terminal *terminal
	keyboard gate
	sending  sync.Mutex
	reset    []byte        // what takes the terminal's modes back
	hungUp   chan struct{} // told when the terminal is gone

	job   sync.Mutex         // held by whoever gives up or takes the terminal
	holds bool               // this process has it, in raw mode
	away  chan struct{}      // told when it is left in the background
	flush chan chan struct{} // closes what it is given when all signals so far are handled

	viewer  bool        // it joined a session that was there: a signal ends its own look alone
	leaving atomic.Bool // it was asked to

	outcome *Outcome // once it is over
}

// lostCode is the exit code where the holder died: that of a hang-up, which is what the CLI got.
const lostCode = 128 + int(unix.SIGHUP)

// relay shows the session on the terminal until one of them ends.
func (s *session) relay() Outcome {
	s.hungUp, s.away, s.flush = make(chan struct{}, 1), make(chan struct{}, 1), make(chan chan struct{})
	defer s.followSignals()()
	s.takeTerminal()
	go s.readKeyboard()
	for s.outcome == nil {
		t, payload, err := s.frames.Wait(s.socket)
		switch {
		case err != nil:
			s.lost()
		case t == wire.Stopped:
			s.suspend(payload)
		default:
			s.show(t, payload)
		}
	}
	return *s.outcome
}

// show does what a frame tells this terminal. It tells whether that was the end of the relay.
func (s *session) show(t wire.Type, payload []byte) (end bool) {
	switch t {
	case wire.Output:
		if writeAll(s.terminal.out, payload) != nil {
			s.hangUp()
		}
	case wire.Reset:
		s.reset = append(s.reset[:0], payload...)
	case wire.Pause:
		s.keyboard.pause(true)
	case wire.Proceed:
		s.keyboard.pause(false)
	case wire.Exited:
		s.ended(payload)
	case wire.Detached:
		s.detached(payload)
	}
	return s.outcome != nil
}

func (s *session) ended(payload []byte) {
	state, _ := wire.ParseState(payload)
	s.giveTerminal(state.Termios)
	s.outcome = &Outcome{Code: state.Code, Signal: syscall.Signal(state.Signal)}
}

// detached leaves the terminal as a fresh one, with the one line that says how to get back.
func (s *session) detached(reset []byte) {
	s.leave(reset)
	fmt.Fprintf(os.Stdout, "agent-sessions attach %s\n", s.id)
	s.outcome = &Outcome{Detached: true}
}

// lost tells that the holder went away without a word. Where this terminal was hung up it is the terminal
// that left, and the CLI lives on.
func (s *session) lost() {
	if s.leaving.Load() {
		s.detached(s.reset)
		return
	}
	select {
	case <-s.hungUp:
		s.hangUp()
		return
	default:
	}
	s.leave(s.reset)
	fmt.Fprintf(os.Stderr, "agentwrap: this session was lost; reopen it with: agent-sessions attach %s\n", s.id)
	s.outcome = &Outcome{Lost: true, Code: lostCode}
}

func (s *session) leave(reset []byte) {
	out := append([]byte(ctlseq.Terminate), reset...)
	_ = writeAll(s.terminal.out, append(out, "\x1b[999;1H\r\n"...))
	s.giveTerminal(nil)
}

// hangUp is the end of a terminal that went away: as natively, by SIGHUP.
func (s *session) hangUp() {
	s.keyboard.open(false)
	s.outcome = &Outcome{Detached: true, Signal: unix.SIGHUP}
}

func (s *session) send(t wire.Type, payload []byte) {
	s.sending.Lock()
	defer s.sending.Unlock()
	_ = wire.Send(s.socket, t, payload) // a holder that is gone shows in the frames
}

// readKeyboard sends what is typed, as long as this process has the terminal.
func (s *session) readKeyboard() {
	buf := make([]byte, 16<<10)
	for {
		s.keyboard.wait()
		await(s.terminal.in, unix.POLLIN)
		if !s.keyboard.isOpen() {
			continue // typed for whoever has the terminal now
		}
		n, err := readSome(s.terminal.in, buf)
		if n > 0 {
			s.send(wire.Input, buf[:n])
		}
		if err != nil && s.keyboard.isOpen() {
			s.terminalGone()
			return
		}
	}
}

// terminalGone leaves the holder, and so ends the relay.
func (s *session) terminalGone() {
	notify(s.hungUp)
	_ = unix.Shutdown(s.socket, unix.SHUT_RDWR)
}
