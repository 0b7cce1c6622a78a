package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/process"
	"agentwrap/internal/tmuxhost"
)

// livesInOwn tells whether a session lives in a multiplexer of the user's own.
func livesInOwn(s *observe.Session) bool {
	return s.State.Alive() && s.Entry.HostSocket == nil && s.Entry.Mux.Kind != nil && s.Entry.Mux.Socket != nil
}

// ownServer is the server that a session lives in, and where in it.
func (a *app) ownServer(s *observe.Session) (tmuxhost.Server, tmuxhost.Place, error) {
	program, err := tmuxhost.Find(a.getenv("PATH"))
	if err != nil {
		return tmuxhost.Server{}, tmuxhost.Place{}, refuse("session %s: the program that it lives in is not on PATH here", s.Entry.LedgerID)
	}
	server := tmuxhost.Server{Program: program, Socket: ledger.Value(s.Entry.Mux.Socket)}
	pids := []int{s.Process.PID}
	for above := range process.Ancestors(s.Process.PID) {
		pids = append(pids, above.PID)
	}
	place, err := server.Locate(func(pid int) bool { return slices.Contains(pids, pid) })
	switch {
	case errors.Is(err, tmuxhost.ErrNoPane):
		err = refuse("session %s has left the window it was started in", s.Entry.LedgerID)
	case err != nil:
		err = refuse("session %s: what it lives in does not answer at %s", s.Entry.LedgerID, server.Socket)
	}
	return server, place, err
}

// joinOwn makes this process what shows a session in the user's own
// multiplexer. It returns only where that fails.
func (a *app) joinOwn(s *observe.Session) error {
	if !a.onTerminal() {
		return refuse("session %s: there is no terminal to show it on", s.Entry.LedgerID)
	}
	path, argv := "", []string{"dtach", "-a", ledger.Value(s.Entry.Mux.Socket)}
	if ledger.Value(s.Entry.Mux.Kind) == ledger.MuxTmux {
		server, place, err := a.ownServer(s)
		if err != nil {
			return err
		}
		path, argv = server.Program, server.Join(place)
	} else if found, err := exec.LookPath(argv[0]); err == nil {
		path = found
	} else {
		return refuse("session %s: the program that it lives in is not on PATH here", s.Entry.LedgerID)
	}
	// Whoever asks may sit in that multiplexer too, which refuses that by itself.
	env := slices.DeleteFunc(slices.Clone(a.env), func(item string) bool { return strings.HasPrefix(item, "TMUX=") })
	return fmt.Errorf("attach %s: %w", s.Entry.LedgerID, unix.Exec(path, argv, env))
}

// peekOwn is what draws the screen of a session in the user's own multiplexer,
// and its size.
func (a *app) peekOwn(s *observe.Session) (picture []byte, columns, rows int, err error) {
	if ledger.Value(s.Entry.Mux.Kind) != ledger.MuxTmux {
		return nil, 0, 0, refuse("session %s lives where its screen is not kept; join it: agent-sessions attach %s", s.Entry.LedgerID, s.Entry.LedgerID)
	}
	server, place, err := a.ownServer(s)
	if err != nil {
		return nil, 0, 0, err
	}
	lines, err := server.ScreenOf(place)
	if err != nil {
		return nil, 0, 0, refuse("session %s: what it lives in does not answer at %s", s.Entry.LedgerID, server.Socket)
	}
	lines = bytes.TrimRight(lines, "\n")
	return bytes.ReplaceAll(lines, []byte("\n"), []byte("\r\n")), widest, bytes.Count(lines, []byte("\n")) + 1, nil
}

// widest is wider than any window: its lines come without what wraps them.
const widest = 1000
