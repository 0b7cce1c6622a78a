// Package tmuxhost runs tmux: the dedicated server in which a session's holder lives and which keeps a copy
// of its screen and history, and the user's own servers, to which attach and peek can join. It is the only
// package that starts tmux.
//
// The dedicated server is never between a terminal and the CLI: it knows no keys, draws no status line, and
// shows nothing to anybody unless someone joins it by hand. Every call to tmux is bounded in time.
package tmuxhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Session is the name of the one session of a dedicated server, and the target of its one pane.
const Session = "main"

// Server is a tmux server by its socket.
type Server struct {
	Program string // path of tmux
	Socket  string
}

// callWait bounds a call to tmux.
const callWait = 2 * time.Second

// ErrAbsent is returned by Find where there is no tmux.
var ErrAbsent = errors.New("tmux is not on PATH")

// Find is the tmux that a PATH names.
func Find(path string) (string, error) {
	program, err := FindProgram("tmux", path)
	if err != nil {
		return "", ErrAbsent
	}
	return program, nil
}

// FindProgram is the program that a PATH names, exec.ErrNotFound without one. Relative folders do not count.
func FindProgram(name, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		program := filepath.Join(dir, name)
		if !filepath.IsAbs(program) {
			continue
		}
		if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() && unix.Access(program, unix.X_OK) == nil {
			return program, nil
		}
	}
	return "", exec.ErrNotFound
}

// options are the server's, set before its session exists: nothing is drawn, bound, changed or answered that
// the CLI did not ask for. A file of them would have to be written and read for every launch.
var options = [][]string{
	{"set", "-s", "escape-time", "0"},
	{"set", "-s", "exit-empty", "on"},
	{"set", "-s", "exit-unattached", "off"},
	{"set", "-s", "focus-events", "off"},
	{"set", "-s", "extended-keys", "off"},
	{"set", "-s", "set-clipboard", "off"},
	{"set", "-s", "history-file", ""},
	{"set", "-g", "default-terminal", "tmux-256color"},
	{"set", "-g", "default-shell", "/bin/sh"},
	{"set", "-g", "history-limit", "50000"},
	{"set", "-g", "status", "off"},
	{"set", "-g", "prefix", "None"},
	{"set", "-g", "prefix2", "None"},
	{"set", "-g", "mouse", "off"},
	{"set", "-g", "destroy-unattached", "off"},
	{"set", "-g", "set-titles", "off"},
	{"set", "-g", "bell-action", "none"},
	{"set", "-g", "visual-bell", "off"},
	{"set", "-g", "update-environment", ""},
	{"set", "-g", "lock-after-time", "0"},
	{"setw", "-g", "remain-on-exit", "off"},
	{"setw", "-g", "allow-rename", "off"},
	{"setw", "-g", "automatic-rename", "off"},
	{"setw", "-g", "aggressive-resize", "off"},
	{"setw", "-g", "monitor-bell", "off"},
	{"setw", "-g", "alternate-screen", "on"},
	{"unbind", "-a", "-T", "prefix"},
	{"unbind", "-a", "-T", "root"},
	{"unbind", "-a", "-T", "copy-mode"},
	{"unbind", "-a", "-T", "copy-mode-vi"},
}

// startCommands make the session. The window's size is kept from plain clients only after it exists: in
// tmux 3.3a `window-size manual` before that ends the new session at once.
func startCommands(rows, columns uint16, pane []string) []string {
	var argv []string
	for _, option := range options {
		argv = append(append(argv, option...), ";")
	}
	argv = append(argv, "new-session", "-d", "-s", Session, "-c", "/",
		"-x", strconv.Itoa(int(columns)), "-y", strconv.Itoa(int(rows)), "--")
	for _, word := range pane {
		argv = append(argv, escapeEnd(word))
	}
	return append(argv, ";", "set", "-w", "-t", Session, "window-size", "manual")
}

// escapeEnd keeps tmux from taking a word that ends in a semicolon for the end of a command.
func escapeEnd(word string) string {
	if rest, found := strings.CutSuffix(word, ";"); found {
		return rest + `\;`
	}
	return word
}

// Start starts a server at a socket path that never was used, with one pane of that size that runs the
// command pane, and returns the tmux process that asks for it: it ends when the server has taken the
// session, unsuccessfully when it has not, and is for the caller to wait for. The server leads a session of
// its own and knows nothing of the caller's environment.
func (s Server) Start(rows, columns uint16, pane []string) (pid int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	argv := append(s.argv(), startCommands(rows, columns, pane)...)
	pid, err = syscall.ForkExec(s.Program, argv, &syscall.ProcAttr{
		Dir: "/", Env: environment(), Files: []uintptr{null.Fd(), null.Fd(), null.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", s.Program, err)
	}
	return pid, nil
}

// Resize sets the size of the session's window.
func (s Server) Resize(rows, columns uint16) error {
	_, err := s.call("resize-window", "-t", Session, "-x", strconv.Itoa(int(columns)), "-y", strconv.Itoa(int(rows)))
	return err
}

// PID is the server's process.
func (s Server) PID() (int, error) {
	out, err := s.call("display-message", "-p", "#{pid}")
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return 0, fmt.Errorf("ask for the server's pid at %s: %w: %.80q", s.Socket, ErrBadAnswer, out)
	}
	return pid, nil
}

// End ends the server and all that runs in it.
func (s Server) End() error {
	_, err := s.call("kill-server")
	return err
}

func (s Server) argv() []string { return []string{"tmux", "-u", "-S", s.Socket, "-f", "/dev/null"} }

// environment is all that a server is started with. A D-Bus address or a runtime folder in it would have
// tmux move its panes into scopes of its own (since 3.4).
func environment() []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "LC_ALL=C.UTF-8", "SHELL=/bin/sh", "HOME=" + os.Getenv("HOME"),
	}
}

// call runs one tmux command and returns what it prints.
func (s Server) call(command ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Program)
	cmd.Args = append(s.argv(), command...)
	cmd.Env, cmd.Dir = environment(), "/"
	cmd.WaitDelay = callWait / 4 // a grandchild that keeps the pipe open is not waited for
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("tmux %s at %s: %w", command[0], s.Socket, err)
	}
	return out, nil
}
