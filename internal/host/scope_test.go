package host

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestScopeName(t *testing.T) {
	for id, want := range map[string]string{
		"0198c2f4-aa_b.c":        "agent-0198c2f4-aa_b.c.scope",
		"a b/c@é":                `agent-a\x20b\x2fc\x40\xc3\xa9.scope`,
		`a\n`:                    `agent-a\x5cn.scope`,
		strings.Repeat("a", 243): "agent-" + strings.Repeat("a", 243) + ".scope",
		strings.Repeat("a", 244): "",
		"":                       "",
	} {
		unit, valid := scopeName(id)
		if valid != (want != "") || valid && unit != want {
			t.Errorf("%q: %q, %v; want %q", id, unit, valid, want)
		}
	}
}

func TestScopeArguments(t *testing.T) {
	const call = "--user --timeout=5 call org.freedesktop.systemd1 /org/freedesktop/systemd1 " +
		"org.freedesktop.systemd1.Manager StartTransientUnit ssa(sv)a(sa(sv)) agent-x.scope fail "
	for _, tc := range []struct {
		pids []int
		oom  bool
		want string
	}{
		{[]int{5}, false, "3 PIDs au 1 5 Slice s agent.slice CollectMode s inactive-or-failed 0"},
		{[]int{5, 6, 70000}, false, "3 PIDs au 3 5 6 70000 Slice s agent.slice CollectMode s inactive-or-failed 0"},
		{[]int{5, 6}, true, "4 PIDs au 2 5 6 Slice s agent.slice CollectMode s inactive-or-failed OOMPolicy s continue 0"},
	} {
		if got := strings.Join(scopeArgs("agent-x.scope", tc.pids, tc.oom), " "); got != call+tc.want {
			t.Errorf("%v, %v:\n%s\nwant\n%s", tc.pids, tc.oom, got, call+tc.want)
		}
	}
}

// manager listens where a user manager does, below the runtime folder of a stage.
func (s *stage) manager() {
	s.t.Helper()
	socket := filepath.Join(s.root, "systemd", "private")
	if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
		s.t.Fatal(err)
	}
	fd, err := listen(socket)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { unix.Close(fd) })
}

// busctl puts a stand-in on the stage's PATH. Each call tells its arguments and what it knows of the environment,
// one a line, up to a line "end"; it does not end before release has a line for it, and refuses OOMPolicy as an
// older systemd does.
func (s *stage) busctl() (calls *bufio.Reader, release *os.File) {
	s.t.Helper()
	var pipes [2]*os.File
	for i, name := range []string{"calls", "release"} {
		path := filepath.Join(s.root, name)
		if err := unix.Mkfifo(path, 0o600); err != nil {
			s.t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { file.Close() })
		pipes[i] = file
	}
	if err := pipes[0].SetReadDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	script := fmt.Sprintf(`#!/bin/sh
printf '%%s\n' "$@" "runtime=$XDG_RUNTIME_DIR" "bus=$DBUS_SESSION_BUS_ADDRESS" "secret=$SECRET" end >%[1]s/calls
read -r line <%[1]s/release
case "$*" in *OOMPolicy*)
	echo "Call failed: Cannot set property OOMPolicy, or unknown property." >&2
	exit 1
esac
`, s.root)
	if err := os.WriteFile(filepath.Join(s.path, "busctl"), []byte(script), 0o700); err != nil {
		s.t.Fatal(err)
	}
	return bufio.NewReader(pipes[0]), pipes[1]
}

func nextCall(t *testing.T, calls *bufio.Reader) (lines []string) {
	t.Helper()
	for {
		line, err := calls.ReadString('\n')
		if err != nil {
			t.Fatalf("the call of busctl, after %q: %v", lines, err)
		}
		if line == "end\n" {
			return lines
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
}

func TestScopeIsAskedFor(t *testing.T) { // ad#958
	eachHost(t, func(t *testing.T, s *stage) {
		s.manager()
		calls, release := s.busctl()
		id := s.birth()
		c := s.on(func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere", "SECRET=word")
		}, id, "shim", s.root, id, s.self, "cli", "echo")
		c.expect("ready")
		first := nextCall(t, calls)
		c.typed("x") // the call has not ended
		c.expect(`<"x">`)
		if _, err := release.WriteString("go\n"); err != nil {
			t.Fatal(err)
		}
		second := nextCall(t, calls)

		pids := []int{*s.entry(id).LauncherPID, *s.entry(id).PID}
		if s.tmux {
			pid, err := s.server(id).PID()
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		unit := "agent-" + id + ".scope"
		env := []string{"runtime=" + s.root, "bus=unix:path=/nowhere", "secret="}
		if want := append(scopeArgs(unit, pids, true), env...); !slices.Equal(first, want) {
			t.Errorf("called with\n%q, want\n%q", first, want)
		}
		if want := append(scopeArgs(unit, pids, false), env...); !slices.Equal(second, want) {
			t.Errorf("then called with\n%q, want\n%q", second, want)
		}
		c.typed("q") // its end does not wait for the call
		c.expect("bye")
		if status := c.exit(); status != 0 {
			t.Errorf("exit %v", status)
		}
		eventually(t, "the holder's end", func() bool { return s.gone(id) })
		if _, err := release.WriteString("go\n"); err != nil {
			t.Fatal(err)
		}
	})
}

func TestScopeIsNotTriedWhereNoManagerCanBe(t *testing.T) {
	s := newStage(t, "")
	s.manager()
	s.busctl()
	all := []string{"XDG_RUNTIME_DIR=" + s.root, "PATH=" + s.path}
	for name, tc := range map[string]struct {
		env  []string
		want bool
	}{
		"all":                     {all, true},
		"no runtime folder":       {all[1:], false},
		"a relative one":          {append([]string{"XDG_RUNTIME_DIR=run"}, all...), false},
		"one without a manager":   {append([]string{"XDG_RUNTIME_DIR=" + s.path}, all...), false},
		"no busctl":               {[]string{all[0], "PATH=" + s.root}, false},
		"a busctl found relative": {[]string{all[0], "PATH=:bin"}, false},
	} {
		if mover, found := findScopeMover(tc.env, "id"); found != tc.want {
			t.Errorf("%s: %v, %+v", name, found, mover)
		}
	}
	if mover, found := findScopeMover(all, strings.Repeat("a", 300)); found {
		t.Errorf("an id that is too long: %s", strconv.Quote(mover.unit))
	}
}
