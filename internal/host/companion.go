package host

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/wire"
)

// Status is what a live holder knows of its session.
type Status = wire.Status

// requestWait is how long a holder may take for an answer.
const requestWait = 5 * time.Second

// Attach shows the session of the holder at socket on this process's terminal until the CLI ends or the
// terminal leaves. The error wraps ErrGone when there is no holder, and says why when there is no terminal.
func Attach(socket, ledgerID string) (Outcome, error) {
	terminal, err := openTerminal()
	if err != nil {
		return Outcome{}, fmt.Errorf("attach %s: %w", ledgerID, err)
	}
	s := &session{id: ledgerID, terminal: terminal, viewer: true}
	if s.socket, err = connect(socket); err != nil {
		return Outcome{}, fmt.Errorf("attach %s: %w", ledgerID, err)
	}
	defer unix.Close(s.socket)
	if err := greet(s.socket, &s.frames, wire.Terminal, wire.Holder); err != nil {
		return Outcome{}, fmt.Errorf("attach %s: %w", ledgerID, err)
	}
	s.send(wire.Attach, terminal.size().Encode())
	return s.relay(), nil
}

// Ask asks the holder at socket about its session.
func Ask(socket string) (Status, error) {
	payload, err := request(socket, wire.Ask, nil, wire.Facts)
	if err != nil {
		return Status{}, err
	}
	return wire.ParseStatus(payload)
}

// Peek is what draws the session's screen on a fresh terminal, raw: it holds control sequences of the CLI's.
func Peek(socket string) ([]byte, error) { return request(socket, wire.Peek, nil, wire.Screen) }

// Detach has every terminal that is attached through the holder leave; the CLI goes on.
func Detach(socket string) error { return order(socket, wire.Dismiss, nil) }

// Type gives the CLI bytes as if they were typed.
func Type(socket string, input []byte) error { return order(socket, wire.Insert, input) }

// Signal sends the CLI a signal through its holder, which cannot mistake another process for it.
func Signal(socket string, signal syscall.Signal) error {
	return order(socket, wire.Signal, []byte{byte(signal)})
}

// order is a request that is answered by Done.
func order(socket string, t wire.Type, payload []byte) error {
	why, err := request(socket, t, payload, wire.Done)
	if err == nil && len(why) > 0 {
		err = errors.New(string(why))
	}
	return err
}

// request sends one frame to the holder at path and waits for the answer of type want.
func request(path string, t wire.Type, payload []byte, want wire.Type) ([]byte, error) {
	socket, err := connect(path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(socket)
	var frames wire.Reader
	if err := greet(socket, &frames, wire.Control, wire.Holder); err != nil {
		return nil, err
	}
	limitReads(socket, requestWait)
	if err := wire.Send(socket, t, payload); err != nil {
		return nil, err
	}
	for {
		switch t, payload, err := frames.Wait(socket); {
		case err != nil:
			return nil, fmt.Errorf("wait for the holder at %s: %w", path, err)
		case t == want:
			return append([]byte(nil), payload...), nil
		case t == wire.Refused:
			return nil, errors.New(string(payload))
		}
	}
}
