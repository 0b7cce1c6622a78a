package procscan

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
	"agentwrap/test/isolate"
)

func TestWhatCountsAsASession(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		shim := named(t, "agentwrap")
		daemon := filepath.Join(t.TempDir(), "app-server-daemon")
		if err := os.Mkdir(daemon, 0o755); err != nil {
			t.Fatal(err)
		}
		daemon = filepath.Join(daemon, "codex")
		if err := os.Link(named(t, "codex"), daemon); err != nil {
			t.Fatal(err)
		}
		bash := "/bin/bash"
		for _, tc := range []struct {
			name    string
			program program
			want    int
		}{
			{"its name as argv[0]", program{argv: []string{"claude"}}, 1},
			{"its path as argv[0]", program{argv: []string{"/x/y/claude", "fix it"}}, 1},
			{"the name that packaging gives it", program{argv: []string{"/x/claude.exe"}}, 1},
			{"a name that is not covered", program{argv: []string{"other"}}, 0},
			{"a name that only begins like it", program{argv: []string{"claude2"}}, 0},
			{"a service word", program{argv: []string{"claude", "daemon", "run"}}, 0},
			{"a maintenance flag", program{argv: []string{"claude", "--version"}}, 0},
			{"an unknown word is a prompt", program{argv: []string{"claude", "config"}}, 1},
			{"the shim that relays a hosted session", program{path: shim, argv: []string{"claude"}}, 0},
			{"a shared daemon by its folder", program{path: daemon, argv: []string{"codex"}}, 0},
			{"a script behind its interpreter", program{path: bash, argv: []string{"bash", script(t, "codex", "echo ready; cat")}}, 1},
			{"a wrapper and its program are one", program{path: bash, argv: []string{"bash", script(t, "codex", `(exec -a codex "$SELF"); true`)}}, 1},
			{"a program with a dot before its name too", program{path: bash, argv: []string{"bash", script(t, "kilo", `(exec -a .kilo "$SELF"); true`)}}, 1},
			{"what a session runs is another one", program{argv: []string{"claude"}, env: []string{playVar + "=children"}}, 2},
			{"a common name elsewhere", program{argv: []string{"agent"}}, 0},
		} {
			s := tc.program.start(t)
			if got := scan(t).Processes; len(got) != tc.want {
				t.Errorf("%s: %d sessions, want %d: %+v", tc.name, len(got), tc.want, got)
			}
			_ = s.stdin.Close()
			_ = s.Wait()
		}
	})
}

func TestAWrapperIsTheSession(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		s := program{path: "/bin/bash", argv: []string{"bash", script(t, "codex", `(exec -a codex "$SELF"); true`), "exec", "do it"}, env: []string{"AGENT_LEDGER_ID=codex-x"}}.start(t)
		p, ok := scan(t).Find(s.Process.Pid)
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
			s := program{argv: []string{"claude"}, env: tc.env}.start(t)
			p, ok := scan(t).Find(s.Process.Pid)
			if !ok || p.Unreadable != nil || p.LedgerID != tc.want {
				t.Errorf("%s: found %v, id %q, %v", name, ok, p.LedgerID, p.Unreadable)
			}
			_ = s.stdin.Close()
			_ = s.Wait()
		}
	})
}

func TestAnotherUsersSessionIsUnverifiable(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		if os.Geteuid() != 0 {
			isolate.Missing(t, "root, to start another user's process")
		}
		nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		bin := named(t, "cli")
		theirs := program{path: bin, argv: []string{"claude"}, attr: nobody}.start(t)
		p, ok := scan(t).Find(theirs.Process.Pid)
		if !ok || p.Unreadable == nil || !strings.Contains(p.Unreadable.Error(), "belongs to user 65534") {
			t.Errorf("root reads theirs: found %v, %+v", ok, p)
		}
		ours := program{argv: []string{"claude"}, env: []string{"AGENT_LEDGER_ID=claude-7"}}.start(t)
		cmd := exec.Command(bin)
		cmd.Env, cmd.SysProcAttr = []string{playVar + "=scan"}, nobody
		out, err := cmd.CombinedOutput()
		want := fmt.Sprintf("%d  process %d belongs to user 0", ours.Process.Pid, ours.Process.Pid)
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
		bin := named(t, "claude")
		box := func(inner ...string) program {
			return program{path: bwrap, attr: nobody, argv: append([]string{"bwrap", "--unshare-user", "--bind", "/", "/", "--dev", "/dev"}, inner...)}
		}
		box(bin).start(t)
		cmd := exec.Command(bwrap)
		cmd.Args = box("--setenv", playVar, "scan", bin).argv
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
		steady := program{argv: []string{"claude"}}.start(t)
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
				}
				cmd := exec.Command(self(t))
				cmd.Args = []string{"codex"}
				if cmd.Start() == nil {
					_ = cmd.Process.Signal(unix.SIGKILL)
					_ = cmd.Wait()
				}
			}
		}()
		for range 300 {
			s := scan(t)
			if _, ok := s.Find(steady.Process.Pid); !ok {
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
		s := program{argv: []string{"claude"}}.start(t)
		if err := s.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_PID, s.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		if got := scan(t).Processes; len(got) != 0 {
			t.Errorf("a zombie counts: %+v", got)
		}
	})
}

func TestCostsOfATree(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		s := program{argv: []string{"claude"}, env: []string{playVar + "=children"}}.start(t)
		costs, err := Costs([]int{s.Process.Pid, 1 << 22})
		if err != nil {
			t.Fatal(err)
		}
		c := costs[s.Process.Pid]
		if len(c.PIDs) != 2 || c.PIDs[0] != s.Process.Pid || c.Memory < 1<<20 {
			t.Errorf("%+v", c)
		}
		if gone := costs[1<<22]; len(gone.PIDs) != 0 || gone.Memory != 0 {
			t.Errorf("a process that is not there costs %+v", gone)
		}
		id, err := process.Of(s.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		other := process.Identity{BootID: id.BootID, PID: id.PID, StartTicks: id.StartTicks + 1}
		if _, ok := Ticks([]process.Identity{id})[id.PID]; !ok {
			t.Error("no ticks for a running process")
		}
		if _, ok := Ticks([]process.Identity{other})[id.PID]; ok {
			t.Error("ticks for a process that has the pid no more")
		}
	})
}
