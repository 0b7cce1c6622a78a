package tmuxhost

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Pane is a pane of any server: the process it was opened for, and its session.
type Pane struct {
	PID     int
	Session string
}

// Panes are all panes of the server, the user's own servers included. It starts no server where there is none.
func (s Server) Panes() ([]Pane, error) {
	var panes []Pane
	err := s.list([]string{"list-panes", "-a", "-F", "#{pane_pid} #{session_name}"}, func(pid int, session string) {
		panes = append(panes, Pane{pid, session})
	})
	return panes, err
}

// Attached are the server's sessions, each with how many terminals are on it.
func (s Server) Attached() (map[string]int, error) {
	sessions := map[string]int{}
	err := s.list([]string{"list-sessions", "-F", "#{session_attached} #{session_name}"}, func(clients int, session string) {
		sessions[session] = clients
	})
	return sessions, err
}

// list runs a command whose lines are a number and a session's name.
func (s Server) list(command []string, each func(n int, session string)) error {
	out, err := s.call(command...)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(out) {
		number, session, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("tmux %s at %s: %.80q is not understood", command[0], s.Socket, line)
		}
		each(n, session)
	}
	return nil
}
