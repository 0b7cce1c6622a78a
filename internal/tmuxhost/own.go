package tmuxhost

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Place is where a session lives in a server of the user's own.
type Place struct {
	Session string // its name
	Pane    string // the pane's id, such as %3
}

// ErrNoPane is returned by Locate where no pane is the process's.
var ErrNoPane = errors.New("no pane runs that process")

// Locate finds the pane that was opened for one of some processes: a process
// and those above it.
func (s Server) Locate(above func(pid int) bool) (Place, error) {
	out, err := s.call("list-panes", "-a", "-F", "#{pane_pid} #{pane_id} #{session_name}")
	if err != nil {
		return Place{}, err
	}
	for line := range bytes.Lines(out) {
		fields := strings.SplitN(strings.TrimSuffix(string(line), "\n"), " ", 3)
		if len(fields) != 3 {
			return Place{}, fmt.Errorf("list the panes at %s: %w: %.80q", s.Socket, ErrBadAnswer, line)
		}
		if pid, err := strconv.Atoi(fields[0]); err == nil && above(pid) {
			return Place{Session: fields[2], Pane: fields[1]}, nil
		}
	}
	return Place{}, fmt.Errorf("look for the session at %s: %w", s.Socket, ErrNoPane)
}

// Join is the argument vector of tmux that shows a place on this terminal, for
// the caller to become: with its pane before the others.
func (s Server) Join(p Place) []string {
	return append(s.argv(), "attach-session", "-t", "="+p.Session, ";", "select-window", "-t", p.Pane, ";", "select-pane", "-t", p.Pane)
}

// ScreenOf is what a place shows, line by line, with its SGR sequences.
func (s Server) ScreenOf(p Place) ([]byte, error) {
	return s.call("capture-pane", "-p", "-e", "-t", p.Pane)
}
