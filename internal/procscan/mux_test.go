package procscan

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

// realPanes asks a real tmux, as the host's package does.
func realPanes(socket string) ([]Pane, error) {
	out, err := exec.Command("tmux", "-S", socket, "list-panes", "-a", "-F", "#{pane_pid} #{session_name}").Output()
	var panes []Pane
	for line := range strings.Lines(string(out)) {
		pid, session, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, convErr := strconv.Atoi(pid)
		if convErr != nil {
			return nil, convErr
		}
		panes = append(panes, Pane{n, session})
	}
	return panes, err
}

// announced is a claude that first writes its pid into a FIFO, as a shell's
// command, and how to learn the pid.
func announced(t *testing.T) (command string, pid func() int) {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "pid")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	command = "export " + actor.RoleVar + "=wait; echo $$ > " + fifo + "; exec -a claude " + actor.Self(t)
	return command, func() int {
		raw, err := os.ReadFile(fifo)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
}

// inTmux starts a claude in a pane of a new server and returns its pid.
func inTmux(t *testing.T, args ...string) int {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		isolate.Missing(t, "tmux")
	}
	command, pid := announced(t)
	cmd := exec.Command(tmux, append(args, "new-session", "-d", "-s", "my work", "bash", "-c", command)...)
	cmd.Env = append(os.Environ(), "TMUX=", "TERM=xterm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	t.Cleanup(func() { _ = exec.Command(tmux, append(args, "kill-server")...).Run() })
	return pid()
}

func TestMuxOfATmuxServer(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		socket := filepath.Join(t.TempDir(), "s")
		pid := inTmux(t, "-S", socket)
		if got, ok := FindMux(pid, realPanes); !ok || got != (Mux{Tmux, socket, "my work"}) {
			t.Errorf("by -S: %+v, %v", got, ok)
		}
		failing := func(string) ([]Pane, error) { return nil, errors.New("no server") }
		if got, ok := FindMux(pid, failing); ok {
			t.Errorf("a server that does not answer is claimed: %+v", got)
		}
		other := func(string) ([]Pane, error) { return []Pane{{PID: 1 << 22, Session: "x"}}, nil }
		if got, ok := FindMux(pid, other); ok {
			t.Errorf("another's pane is claimed: %+v", got)
		}
	})
}

func TestMuxOfTheUsersOwnServer(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("TMUX_TMPDIR", dir)
		pid := inTmux(t, "-L", "mine")
		got, ok := FindMux(pid, realPanes)
		if !ok || got.Kind != Tmux || got.Target != "my work" || !strings.HasPrefix(got.Socket, dir) {
			t.Errorf("by the process's TMUX: %+v, %v", got, ok)
		}
		if got, ok := FindMux(os.Getpid(), realPanes); ok {
			t.Errorf("a process outside of any: %+v", got)
		}
	})
}

func TestMuxOfDtach(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		dtach, err := exec.LookPath("dtach")
		if err != nil {
			isolate.Missing(t, "dtach")
		}
		command, pid := announced(t)
		cmd := exec.Command(dtach, "-n", "sock", "bash", "-c", command)
		cmd.Dir = t.TempDir()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if got, ok := FindMux(pid(), realPanes); !ok || got != (Mux{Kind: Dtach, Socket: filepath.Join(cmd.Dir, "sock")}) {
			t.Errorf("%+v, %v", got, ok)
		}
	})
}

func TestSocketClients(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "s")
		if n, listening, err := SocketClients(path); n != 0 || listening || err != nil {
			t.Errorf("no socket: %d, %v, %v", n, listening, err)
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for want := range 3 {
			n, listening, err := SocketClients(path)
			if n != want || !listening || err != nil {
				t.Errorf("%d clients, %v, %v, want %d", n, listening, err, want)
			}
			c, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			a, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
		}
	})
}
