package procscan

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"agentwrap/internal/process"
)

// Kinds of a multiplexer, as mux.kind has them.
const (
	Tmux  = "tmux"
	Dtach = "dtach"
)

// Mux is the multiplexer that a process sits in. Target is the session's name
// on a tmux server, "" for dtach.
type Mux struct{ Kind, Socket, Target string }

// Pane is one pane of a tmux server: the process it was opened for and the
// session it is in.
type Pane struct {
	PID     int
	Session string
}

// Panes asks the tmux server at a socket for all of its panes.
type Panes func(socket string) ([]Pane, error)

// FindMux finds the multiplexer among a process's ancestors, the nearest one:
// a tmux server by its -S socket, else by the TMUX of the process whose server
// pid is that very ancestor's; dtach by its arguments. It tells nothing where
// the server does not confirm a pane of this process.
func FindMux(pid int, panes Panes) (Mux, bool) {
	chain := []int{pid}
	for above := range process.Ancestors(pid) {
		switch above.Comm {
		case "tmux: server":
			socket := tmuxSocket(pid, above.PID)
			if socket == "" {
				return Mux{}, false
			}
			return tmuxPane(socket, chain, panes)
		case "dtach":
			if socket := dtachSocket(above.PID); socket != "" {
				return Mux{Kind: Dtach, Socket: socket}, true
			}
		}
		chain = append(chain, above.PID)
	}
	return Mux{}, false
}

func tmuxPane(socket string, chain []int, panes Panes) (Mux, bool) {
	list, err := panes(socket)
	if err != nil {
		return Mux{}, false
	}
	for _, p := range list {
		if slices.Contains(chain, p.PID) {
			return Mux{Kind: Tmux, Socket: socket, Target: p.Session}, true
		}
	}
	return Mux{}, false
}

func tmuxSocket(pid, server int) string {
	argv, err := process.Cmdline(server)
	if err != nil {
		return ""
	}
	for i, arg := range argv {
		if arg == "-S" && i+1 < len(argv) {
			return absolute(server, argv[i+1])
		}
		if path, ok := strings.CutPrefix(arg, "-S"); ok && i > 0 {
			return absolute(server, path)
		}
	}
	env, err := process.Environ(pid)
	if err != nil {
		return ""
	}
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "TMUX="); ok {
			parts := strings.Split(value, ",")
			if len(parts) == 3 && parts[1] == strconv.Itoa(server) {
				return parts[0]
			}
		}
	}
	return ""
}

// dtachModes are those in which dtach opens a session; its socket comes next.
var dtachModes = []string{"-c", "-A", "-n", "-N"}

func dtachSocket(pid int) string {
	argv, err := process.Cmdline(pid)
	if err != nil || len(argv) < 3 || !slices.Contains(dtachModes, argv[1]) {
		return ""
	}
	return absolute(pid, argv[2])
}

// absolute is a path as a process in its own folder means it, "" where that
// cannot be told.
func absolute(pid int, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	dir, err := os.Readlink(procPath(pid, "cwd"))
	if err != nil || path == "" {
		return ""
	}
	return filepath.Join(dir, path)
}

// SocketClients counts the connections to a unix socket, by the path it was
// bound to. It is told apart whether the socket listens at all.
func SocketClients(path string) (clients int, listening bool, err error) {
	fs, err := procfs.NewFS("/proc")
	if err != nil {
		return 0, false, err
	}
	sockets, err := fs.NetUNIX()
	if err != nil {
		return 0, false, err
	}
	const (
		acceptsConnections = 1 << 16 // __SO_ACCEPTCON
		connected          = 3       // SS_CONNECTED
	)
	for _, row := range sockets.Rows {
		switch {
		case row.Path != path:
		case row.Flags&acceptsConnections != 0:
			listening = true
		case row.State == connected:
			clients++
		}
	}
	return clients, listening, nil
}
