package host

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/ctlseq"
	"agentwrap/internal/host/wire"
)

func TestTwoTerminals(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		first := s.hosted("sizes")
		first.expect("size 30x90")
		second := s.attach(first.id)
		second.expect("size 30x90")
		second.resize(20, 60, 0, 0) // the newest's size counts
		second.expect("size 20x60")
		first.expect("size 20x60")
		first.resize(50, 100, 0, 0)
		if status, err := Ask(s.socket(first.id)); err != nil || status.Terminals != 2 || status.Size.Rows != 20 {
			t.Errorf("%+v, %v", status, err)
		}
		_ = second.cmd.Process.Signal(unix.SIGHUP)
		second.exit()
		first.expect("size 50x100") // and the other's when it has left
		first.typed("q")
		first.exit()
	})
}

func TestOnlyTheNewestTerminalIsAsked(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		first := s.hosted("asker")
		first.expect("ready\r\n")
		first.expect("\x1b[6n")
		first.typed("\x1b[1;1R")
		first.expect(`<"\x1b[1;1R">`)
		second := s.attach(first.id)
		second.expect(`<"\x1b[1;1R">`)
		second.typed("?")
		second.expect("asked:\x1b[6n.")
		first.expect("asked:.")
		second.typed("\x1b[2;2R")
		first.expect(`<"\x1b[2;2R">`)
		if err := Detach(s.socket(first.id)); err != nil {
			t.Fatal(err)
		}
		if first.exit() != 0 || second.exit() != 0 {
			t.Error("not both were detached")
		}
	})
}

func TestFocusIsToldWhenTheLastTerminalLeavesAndOneComes(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		shim := s.hosted("focus")
		shim.expect("ready")
		_ = shim.cmd.Process.Kill()
		shim.exit()
		eventually(t, "the terminal's leaving", func() bool {
			status, err := Ask(s.socket(shim.id))
			return err == nil && status.Terminals == 0
		})
		back := s.attach(shim.id)
		back.expect(`<"\x1b[O">`)
		back.expect("\x1b[?1004h")
		back.expect(`<"\x1b[I">`)
		back.typed("q")
		back.exit()
	})
}

func TestDetachResetsWhatWasSetAndAttachSetsItAgain(t *testing.T) { // zmx#139
	eachHost(t, func(t *testing.T, s *stage) {
		shim := s.hosted("modes")
		shim.expect("settled")
		if err := Detach(s.socket(shim.id)); err != nil {
			t.Fatal(err)
		}
		shim.exit()
		_, left, _ := bytes.Cut(shim.output(), []byte("settled\r\n"))
		want := ctlseq.Terminate + "\x1b[?25h\x1b[?1004l\x1b[?2004l\x1b[<1u\x1b[m\x1b[999;1H\r\nagent-sessions attach " + shim.id + "\r\n"
		if string(left) != want {
			t.Errorf("left with %q, want %q", left, want)
		}
		if strings.Contains(string(left), "tmux") || strings.Contains(string(left), "multiplexer") {
			t.Errorf("the host shows: %q", left)
		}
		back := s.attach(shim.id)
		for _, set := range []string{"\x1b[>5u", "\x1b[?25l", "\x1b[?1004h", "\x1b[?2004h", "\x1b]2;title\x07"} {
			back.expect(set)
		}
		back.typed("q")
		back.exit()
	})
}

func TestDetachedStart(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		id := s.birth()
		cmd := exec.Command(s.self)
		cmd.Args = []string{"shim", s.root, id, s.self, "cli", "asks alone"}
		cmd.Env = []string{"PATH=" + s.path, "AGENTWRAP_HOST=detached"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %q", err, out)
		}
		t.Cleanup(func() { s.endSession(id) })
		eventually(t, "every answer", func() bool {
			screen, err := Peek(s.socket(id))
			return err == nil && strings.Contains(string(screen), "all answered")
		})
		back := s.attach(id)
		back.expect("size 30x90; all answered")
		back.typed("q")
		back.exit()
	})
}

func TestPeek(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		c := s.hosted("numbers", "100")
		c.expect("press a key")
		screen, err := Peek(s.socket(c.id))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.ReplaceAll(string(screen), "\x1b[m", ""), "\r\n")
		if len(lines) != 30 || !strings.HasPrefix(lines[29], "press a key") || lines[0] != "line 000071" {
			t.Errorf("%d lines, the first %q, the last %q", len(lines), lines[0], lines[len(lines)-1])
		}
		c.typed("k\r")
		c.exit()
	})
}

func TestExitWhileOutputIsStopped(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		c := s.hosted("lines")
		c.expect("ready")
		c.typed("\x13") // ^S
		_ = Signal(s.socket(c.id), unix.SIGTERM)
		if status := c.exit(); !status.Signaled() || status.Signal() != unix.SIGTERM {
			t.Errorf("exit %v", status)
		}
	})
}

func TestSignalsToTheShimReachTheCLI(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		c := s.hosted("signals")
		c.expect("ready")
		for _, sig := range []syscall.Signal{unix.SIGINT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGQUIT, unix.SIGALRM, 40} {
			if err := c.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			c.expect(fmt.Sprintf("signal %d.", sig))
		}
		_ = c.cmd.Process.Signal(unix.SIGTERM)
		if status := c.exit(); !status.Signaled() || status.Signal() != unix.SIGTERM {
			t.Errorf("exit %v", status)
		}
	})
}

func TestAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("takes root to be another user")
	}
	s := newStage(t, "")
	c := s.hosted("echo")
	c.expect("ready")
	for _, path := range []string{s.root, s.link("sock")} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(s.socket(c.id), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"stranger", s.socket(c.id)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "connected; refused\n" {
		t.Errorf("%v: %q", err, out)
	}
	c.typed("q")
	c.exit()
}

// strangerMain is another user at a holder's socket.
func strangerMain(args []string) int {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: args[0]})
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_ = wire.Send(fd, wire.Hello, wire.Greet(wire.Control))
	_ = wire.Send(fd, wire.Ask, nil)
	var frames wire.Reader
	t, _, err := frames.Wait(fd)
	if err != nil {
		fmt.Println("connected; refused")
		return 0
	}
	fmt.Printf("answered %q\n", t)
	return 0
}

func TestAFaultInTheFilterDoesNotEndTheSession(t *testing.T) {
	h := &holder{}
	h.output.filter.Asked = func(ctlseq.Query) { panic("a fault") }
	if got := h.strip([]byte("a\x1b[6nb"), ctlseq.Watch); string(got) != "a\x1b[6nb" {
		t.Errorf("got %q", got)
	}
	if got := h.strip([]byte("\x1b[6n"), ctlseq.Watch); string(got) != "\x1b[6n" || !h.output.unparsed {
		t.Errorf("then %q", got)
	}
}
