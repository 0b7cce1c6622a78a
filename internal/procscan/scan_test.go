package procscan

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

func TestWhatCountsAsASession(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		shim := actor.Named(t, "agentwrap")
		daemon := filepath.Join(t.TempDir(), "app-server-daemon")
		if err := os.Mkdir(daemon, 0o755); err != nil {
			t.Fatal(err)
		}
		daemon = filepath.Join(daemon, "codex")
		if err := os.Link(actor.Named(t, "codex"), daemon); err != nil {
			t.Fatal(err)
		}
		bash := "/bin/bash"
		// Its last line is exec -a "$0" node …/index.js "$@".
		cursor := filepath.Join(t.TempDir(), "cursor-agent", "versions", "1", "index.js")
		if err := errors.Join(os.MkdirAll(filepath.Dir(cursor), 0o755), os.WriteFile(cursor, []byte("echo ready; cat"), 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			name    string
			program actor.Program
			want    int
		}{
			{"its name as argv[0]", actor.Program{Argv: []string{"claude"}}, 1},
			{"its path as argv[0]", actor.Program{Argv: []string{"/x/y/claude", "fix it"}}, 1},
			{"the name that packaging gives it", actor.Program{Argv: []string{"/x/claude.exe"}}, 1},
			{"a name that is not covered", actor.Program{Argv: []string{"other"}}, 0},
			{"a name that only begins like it", actor.Program{Argv: []string{"claude2"}}, 0},
			{"a service word", actor.Program{Argv: []string{"claude", "daemon", "run"}}, 0},
			{"a maintenance flag", actor.Program{Argv: []string{"claude", "--version"}}, 0},
			{"an unknown word is a prompt", actor.Program{Argv: []string{"claude", "config"}}, 1},
			{"the shim that relays a hosted session", actor.Program{Path: shim, Argv: []string{"claude"}}, 0},
			{"a shared daemon by its folder", actor.Program{Path: daemon, Argv: []string{"codex"}}, 0},
			{"a script behind its interpreter", actor.Program{Path: bash, Argv: []string{"bash", actor.Script(t, "codex", "echo ready; cat")}}, 1},
			{"a wrapper and its program are one", actor.Wrapper(t, "codex"), 1},
			{"a program with a dot before its name too", actor.Program{Path: bash, Argv: []string{"bash", actor.Script(t, "kilo", `(exec -a .kilo "$SELF"); true`)}}, 1},
			{"what a session runs is another one", actor.Program{Argv: []string{"claude"}, Role: actor.Nest}, 2},
			{"a child of it that has not become anything yet", actor.Program{Path: bash, Argv: []string{"claude", "-c", "exec 3<&0; (echo ready; read x <&3; true) & wait"}}, 1},
			{"a common name elsewhere", actor.Program{Argv: []string{"agent"}}, 0},
			{"that name put on cursor's interpreter", actor.Program{Path: bash, Argv: []string{"agent", cursor, "fix it"}}, 1},
			{"its service word behind its script", actor.Program{Path: bash, Argv: []string{"/x/bin/agent", cursor, "ls"}}, 0},
		} {
			s := tc.program.Start(t)
			if got := scan(t).Processes; len(got) != tc.want {
				t.Errorf("%s: %d sessions, want %d: %+v", tc.name, len(got), tc.want, got)
			}
			s.End()
		}
	})
}

func TestAWrapperIsTheSession(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		s := actor.Wrapper(t, "codex", "exec", "do it").With("AGENT_LEDGER_ID=codex-x").Start(t)
		p, ok := scan(t).Find(s.PID())
		if !ok || len(p.Folded) != 1 || p.Args[0] != "exec" || p.LedgerID != "codex-x" || !p.Script {
			t.Errorf("found %v: %+v", ok, p)
		}
		if p.Ancestors[0] != os.Getpid() {
			t.Errorf("ancestors %v do not begin at %d", p.Ancestors, os.Getpid())
		}
	})
}

func TestTheIdInTheEnvironment(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		for name, tc := range map[string]struct {
			env  []string
			want string
		}{
			"none":             {nil, ""},
			"one":              {[]string{"A=1", "AGENT_LEDGER_ID=claude-7"}, "claude-7"},
			"another variable": {[]string{"MY_AGENT_LEDGER_ID=claude-7"}, ""},
			"a large one":      {[]string{"BIG=" + strings.Repeat("x", 100_000), "AGENT_LEDGER_ID=claude-7"}, "claude-7"},
		} {
			s := actor.Program{Argv: []string{"claude"}, Env: tc.env}.Start(t)
			p, ok := scan(t).Find(s.PID())
			if !ok || p.Unreadable != nil || p.LedgerID != tc.want {
				t.Errorf("%s: found %v, id %q, %v", name, ok, p.LedgerID, p.Unreadable)
			}
			s.End()
		}
	})
}

func TestAnotherUsersSessionIsUnverifiable(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		if os.Geteuid() != 0 {
			isolate.Missing(t, "root, to start another user's process")
		}
		nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		bin := actor.Named(t, "cli")
		theirs := actor.Program{Path: bin, Argv: []string{"claude"}, Attr: nobody}.Start(t)
		p, ok := scan(t).Find(theirs.PID())
		if !ok || p.Unreadable == nil || !strings.Contains(p.Unreadable.Error(), "belongs to user 65534") {
			t.Errorf("root reads theirs: found %v, %+v", ok, p)
		}
		ours := actor.Program{Argv: []string{"claude"}, Env: []string{"AGENT_LEDGER_ID=claude-7"}}.Start(t)
		cmd := exec.Command(bin)
		cmd.Env, cmd.SysProcAttr = []string{actor.RoleVar + "=scan"}, nobody
		out, err := cmd.CombinedOutput()
		want := fmt.Sprintf("%d  process %d belongs to user 0", ours.PID(), ours.PID())
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("they read ours: %s, %v, want %q", out, err, want)
		}
	})
}

// A sandbox of another user namespace keeps its environment from whoever is
// beside it, though the user is the same.
func TestAnEnvironmentBehindAUserNamespaceIsUnverifiable(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		bwrap, err := exec.LookPath("bwrap")
		if err != nil {
			isolate.Missing(t, "bwrap")
		}
		if os.Geteuid() != 0 {
			isolate.Missing(t, "root, to leave it behind")
		}
		nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		bin := actor.Named(t, "claude")
		box := func(inner ...string) actor.Program {
			return actor.Program{Path: bwrap, Attr: nobody, Argv: append([]string{"bwrap", "--unshare-user", "--bind", "/", "/", "--dev", "/dev"}, inner...)}
		}
		box(bin).Start(t)
		cmd := exec.Command(bwrap)
		cmd.Args = box("--setenv", actor.RoleVar, "scan", bin).Argv
		cmd.SysProcAttr = nobody
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "permission denied") {
			t.Errorf("beside it: %s, %v", out, err)
		}
	})
}

func TestOnlyTheHostsUserNamespaceWillDo(t *testing.T) {
	raw, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	host := strings.Join(strings.Fields(string(raw)), " ") == hostUIDMap
	if err := InHostNamespace(); (err == nil) != host {
		t.Errorf("in the host's namespace %v: %v", host, err)
	}
}

func TestProcessesThatEndDuringTheScan(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		steady := actor.Program{Argv: []string{"claude"}}.Start(t)
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
				}
				cmd := exec.Command(actor.Self(t))
				cmd.Args = []string{"codex"}
				if cmd.Start() == nil {
					_ = cmd.Process.Signal(unix.SIGKILL)
					_ = cmd.Wait()
				}
			}
		}()
		for range 300 {
			s := scan(t)
			if _, ok := s.Find(steady.PID()); !ok {
				t.Fatal("the steady session is missing")
			}
			for _, p := range s.Processes {
				if p.Unreadable != nil {
					t.Errorf("a process that ended is called unverifiable: %v", p.Unreadable)
				}
			}
		}
		close(stop)
		<-stopped
	})
}

func TestAZombieIsNoSession(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		s := actor.Program{Argv: []string{"claude"}}.Start(t)
		if err := s.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_PID, s.PID(), &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		if got := scan(t).Processes; len(got) != 0 {
			t.Errorf("a zombie counts: %+v", got)
		}
	})
}

func TestCostsOfATree(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		s := actor.Program{Argv: []string{"claude"}, Role: actor.Nest}.Start(t)
		costs, err := Costs([]int{s.PID(), 1 << 22})
		if err != nil {
			t.Fatal(err)
		}
		c := costs[s.PID()]
		if len(c.PIDs) != 2 || c.PIDs[0] != s.PID() || c.Memory < 1<<20 {
			t.Errorf("%+v", c)
		}
		if gone := costs[1<<22]; len(gone.PIDs) != 0 || gone.Memory != 0 {
			t.Errorf("a process that is not there costs %+v", gone)
		}
	})
}
