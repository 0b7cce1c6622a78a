package host

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"agentwrap/internal/become"
	"agentwrap/internal/fdpass"
	"agentwrap/internal/host/wire"
	"agentwrap/internal/tmuxhost"
)

// Run starts a CLI hosted and, unless it is to be detached, relays this process's terminal until the CLI
// ends or the terminal leaves it. An error that wraps ErrNotStarted says that the CLI was not started and
// that nothing is left of the attempt; there is no other error.
func Run(l Launch) (Outcome, error) {
	start, err := prepare(l)
	if err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	defer start.close()
	session, err := start.launch()
	if err != nil {
		start.inherited.keep()
		return Outcome{}, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	start.inherited.hand()
	if l.Detached != nil {
		return Outcome{Detached: true}, nil
	}
	return session.relay(), nil
}

// start is a launch under way, before there is a holder that has taken it over.
type start struct {
	Launch
	terminal  *terminal
	inherited inheritance
	tmux      tmuxhost.Server // without a Program where there is none
	socket    string
	listener  int
	dropped   chan struct{} // closed when a server that brought no holder is ended; nil where there was none
}

// prepare makes all that a holder needs and that can fail on this side.
func prepare(l Launch) (*start, error) {
	s := &start{Launch: l, listener: -1}
	var err error
	if l.Detached == nil {
		if s.terminal, err = openTerminal(); err != nil {
			return nil, err
		}
	}
	if err := unix.Access(l.Self, unix.X_OK); err != nil {
		return nil, fmt.Errorf("start %s: %w", l.Self, err)
	}
	s.tmux.Program, _ = tmuxhost.Find(lookup(l.Spec.Env, "PATH"))
	if s.tmux.Socket, s.socket, err = sockets(l.Store, l.LedgerID, l.Spec.Env); err != nil {
		return nil, err
	}
	if s.listener, err = listen(s.socket); err != nil {
		return nil, err
	}
	if s.inherited, err = inherit(s.terminal); err != nil {
		_ = unix.Unlink(s.socket)
		s.close()
		return nil, fmt.Errorf("look at this process's descriptors: %w", err)
	}
	return s, nil
}

// launch finds a holder and has it start the CLI.
func (s *start) launch() (*session, error) {
	socket, err := s.startHolder()
	if err == nil {
		session := &session{socket: socket, id: s.LedgerID, terminal: s.terminal}
		if err = s.order(session); err == nil {
			return session, nil
		}
		unix.Close(socket)
	}
	_ = unix.Unlink(s.socket)
	return nil, err
}

// order hands the launch over and waits until the CLI runs. When the holder has said that it may run, the
// end of the connection no longer proves that it was not started.
func (s *start) order(session *session) error {
	order := s.orders()
	if err := wire.Send(session.socket, wire.Launch, order.Encode()); err != nil {
		return fmt.Errorf("hand the launch over: %w", err)
	}
	if err := s.sendFiles(session.socket); err != nil {
		return fmt.Errorf("hand descriptors over: %w", err)
	}
	for starting := false; ; {
		t, payload, err := session.frames.Wait(session.socket)
		switch {
		case err != nil && starting:
			return nil // the relay will see the same and tell that the session was lost
		case err != nil:
			return fmt.Errorf("the holder went away: %w", err)
		case t == wire.Refused:
			return errors.New(string(payload))
		case t == wire.Starting:
			starting = true
		case t == wire.Started:
			return nil
		}
	}
}

func (s *start) orders() wire.Order {
	spec := s.Spec
	spec.Dir = "" // the descriptor of the folder says it better
	order := wire.Order{
		Spec: spec.Encode(), LedgerRoot: s.Store.Dir(), LedgerID: s.LedgerID,
		Socket: s.socket, Tmux: s.tmux.Program, TmuxSocket: s.tmux.Socket, Detached: s.Detached != nil,
	}
	if s.terminal == nil {
		order.Size = *s.Detached
	} else {
		order.Size, order.Termios, order.Background = s.terminal.size(), s.terminal.modes, !s.terminal.foreground()
	}
	for _, file := range s.inherited.files {
		order.Files = append(order.Files, wire.Placement{Number: file.Number, Sent: file.FD != become.Terminal})
	}
	return order
}

// sendFiles sends the listening socket and then the files of the order that have a descriptor.
func (s *start) sendFiles(socket int) error {
	fds := []int{s.listener}
	for _, file := range s.inherited.files {
		if file.FD != become.Terminal {
			fds = append(fds, file.FD)
		}
	}
	for len(fds) > 0 {
		n := min(len(fds), fdpass.Batch)
		if err := wire.Send(socket, wire.Files, []byte{0}, fds[:n]...); err != nil {
			return err
		}
		fds = fds[n:]
	}
	return nil
}

// holderEnv is what a holder is started with: nothing of the CLI's environment, which it gets by socket.
func holderEnv() []string {
	return []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + os.Getenv("HOME")}
}
