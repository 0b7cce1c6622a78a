package host

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
)

// getBack attaches to a session whose terminal was lost and proves that it lives and is whole.
func (s *stage) getBack(t *testing.T, id string) {
	t.Helper()
	eventually(t, "the terminal's leaving", func() bool {
		status, err := Ask(s.socket(id))
		return err == nil && status.Terminals == 0
	})
	if err := Type(s.socket(id), []byte("unseen")); err != nil {
		t.Fatal(err)
	}
	back := s.attach(id)
	back.expect("ready")
	back.expect(`<"unseen">`)
	back.typed("b")
	back.expect(`<"b">`)
	back.typed("q")
	back.expect("bye")
	if status := back.exit(); status != 0 {
		t.Errorf("exit %v", status)
	}
}

func TestTheCLIOutlivesItsTerminal(t *testing.T) { // cc#47872, ad#958
	for name, lose := range map[string]func(t *testing.T, c *screen){
		"shim killed": func(t *testing.T, c *screen) { _ = c.cmd.Process.Kill() },
		"terminal closed": func(t *testing.T, c *screen) {
			resume := c.stall() // a read that is under way would keep it open
			defer resume()
			c.typed("x")
			c.awaitParked()
			c.term.Close()
		},
		"hang-up sent": func(t *testing.T, c *screen) { _ = c.cmd.Process.Signal(unix.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			eachHost(t, func(t *testing.T, s *stage) {
				c := s.hosted("echo")
				c.expect("ready")
				lose(t, c)
				s.getBack(t, c.id)
				if status := c.exit(); name != "shim killed" && (!status.Signaled() || status.Signal() != unix.SIGHUP) {
					t.Errorf("the shim ended with %v, want SIGHUP", status)
				}
			})
		})
	}
}

func TestTheSessionOutlivesTmux(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s *stage, id string){
		"killed":      func(t *testing.T, s *stage, id string) { _ = unix.Kill(s.serverPID(t, id), unix.SIGKILL) },
		"kill-server": func(t *testing.T, s *stage, id string) { _ = s.server(id).End() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "tmux")
			c := s.hosted("echo")
			c.expect("ready")
			if e := s.entry(c.id); ledger.Value(e.Mux.Kind) != "tmux" || ledger.Value(e.TmuxSocket) != s.server(c.id).Socket || ledger.Value(e.TmuxSession) != "main" {
				t.Errorf("entry: %+v, %v", e.Mux, e.TmuxSocket)
			}
			end(t, s, c.id)
			eventually(t, "the entry without tmux", func() bool {
				e := s.entry(c.id)
				return e.Mux.Kind == nil && e.TmuxSocket == nil && e.TmuxSession == nil && e.HostSocket != nil
			})
			c.typed("a")
			c.expect(`<"a">`)
			_ = c.cmd.Process.Kill()
			s.getBack(t, c.id)
		})
	}
}

// serverPID is the process of a session's tmux server: the parent of the holder.
func (s *stage) serverPID(t *testing.T, id string) int {
	t.Helper()
	status, err := Ask(s.socket(id))
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(status.HolderPID) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestATmuxThatHangsIsGivenUp(t *testing.T) {
	s := newStage(t, "tmux")
	c := s.hosted("pour", strconv.Itoa(10*megabytes))
	c.expect("some text")
	server := s.serverPID(t, c.id)
	if err := unix.Kill(server, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Kill(server, unix.SIGKILL) }()
	c.expect("|poured")
	if status := c.exit(); status != 0 {
		t.Errorf("exit %v", status)
	}
}

func TestABrokenTmuxDoesNotStopALaunch(t *testing.T) {
	for name, script := range map[string]string{
		"fails": "exit 1", "does nothing": "exit 0", "hangs": "exec sleep 600", "prints": "echo rubbish; echo more >&2; exit 3",
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "")
			if err := os.WriteFile(filepath.Join(s.path, "tmux"), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMUX_HANGS", "perhaps")
			c := s.hosted("exit", "5")
			if status := c.exit(); status.ExitStatus() != 5 || string(c.output()) != "the last line\r\n" {
				t.Errorf("status %v, wrote %q", status, c.output())
			}
			if e := s.ended(c.id); ledger.Value(e.ExitStatus.Code) != 5 || e.Mux.Kind != nil {
				t.Errorf("exit status %+v, mux %v", e.ExitStatus, e.Mux)
			}
		})
	}
}

func TestALostHolderLeavesTheTerminalUsable(t *testing.T) { // zmx#26
	eachHost(t, func(t *testing.T, s *stage) {
		c := s.hosted("modes")
		c.expect("ready")
		status, err := Ask(s.socket(c.id))
		if err != nil {
			t.Fatal(err)
		}
		cli, err := unix.PidfdOpen(status.PID, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(cli)
		c.expect("settled") // its modes have been told
		if err := unix.Kill(status.HolderPID, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		c.expect("\x1b[?25h")
		c.expect("\x1b[?1004l")
		c.expect("\x1b[<1u")
		c.expect("agent-sessions attach " + c.id)
		if end := c.exit(); end.ExitStatus() != 129 {
			t.Errorf("exit %v, want 129", end)
		}
		await(cli, unix.POLLIN) // it got SIGHUP, as when a terminal goes
	})
}

func TestWhatCannotBeHostedIsNotStarted(t *testing.T) {
	cases := map[string]func(t *testing.T, s *stage) *screen{
		"no agentwrap": func(t *testing.T, s *stage) *screen {
			if err := os.Remove(s.link("agentwrap")); err != nil {
				t.Fatal(err)
			}
			return s.hosted("exit", "0")
		},
		"no program": func(t *testing.T, s *stage) *screen {
			id := s.birth()
			return s.on(nil, id, "shim", s.root, id, "/no/such/program", "program")
		},
		"no place for sockets": func(t *testing.T, s *stage) *screen {
			if err := os.WriteFile(s.link("sock"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return s.hosted("exit", "0")
		},
	}
	for name, start := range cases {
		t.Run(name, func(t *testing.T) {
			eachHost(t, func(t *testing.T, s *stage) {
				c := start(t, s)
				if status := c.exit(); status.ExitStatus() != notHosted || !strings.Contains(string(c.output()), ErrNotStarted.Error()) {
					t.Errorf("status %v, wrote %q", status, c.output())
				}
				e := s.entry(c.id)
				if e.PID != nil || e.HostSocket != nil || e.Mux.Kind != nil || e.TTY != nil {
					t.Errorf("left in the entry: pid %v, socket %v, mux %v", e.PID, e.HostSocket, e.Mux)
				}
				eventually(t, "the end of its sockets", func() bool {
					left, _ := filepath.Glob(s.store.SocketPath("*"))
					return len(left) == 0
				})
			})
		})
	}
}

func TestNotOnATerminalIsNotHosted(t *testing.T) {
	s := newStage(t, "")
	cmd := exec.Command(s.self)
	cmd.Args = []string{"shim", s.root, s.birth(), s.self, "cli", "exit", "0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != notHosted {
		t.Errorf("%v: %q", err, out)
	}
}

func TestALongPathGetsAShortSocket(t *testing.T) { // overmind#205
	eachHost(t, func(t *testing.T, short *stage) {
		long := filepath.Join(short.root, strings.Repeat("x", 100))
		runtime := filepath.Join(short.root, "run")
		if err := errors.Join(os.Mkdir(long, 0o700), os.Mkdir(runtime, 0o700)); err != nil {
			t.Fatal(err)
		}
		s := newStageAt(t, long, map[bool]string{true: "tmux"}[short.tmux])
		id := s.birth()
		c := s.on(func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+runtime) }, "", "shim", long, id, s.self, "cli", "echo")
		c.expect("ready")
		e := s.entry(id)
		socket := ledger.Value(e.HostSocket)
		if filepath.Dir(socket) != filepath.Join(runtime, "agentwrap") || short.tmux != (e.TmuxSocket != nil) {
			t.Errorf("socket %q, tmux %v", socket, e.TmuxSocket)
		}
		if status, err := Ask(socket); err != nil || status.Terminals != 1 {
			t.Errorf("%+v, %v", status, err)
		}
		c.typed("q")
		c.exit()
	})
}

func TestWhatTheCLILeavesRunningIsNotHungUpOn(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		left := s.link("left")
		id := s.birth()
		script := `PATH=/usr/bin:/bin; sleep 0.3 && sleep 0.3 && echo alive >"$0" & exit 0`
		c := s.on(nil, id, "shim", s.root, id, "/bin/sh", "sh", "-c", script, left)
		if status := c.exit(); status != 0 {
			t.Errorf("exit %v", status)
		}
		eventually(t, "what the background child writes when the session is over", func() bool {
			written, _ := os.ReadFile(left)
			return string(written) == "alive\n"
		})
	})
}
