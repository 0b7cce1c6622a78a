package launch_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
)

// terminal starts claude in a terminal of its own and returns what it says of
// itself first, the process that was typed, and its terminal.
func (w *world) terminal(env []string, args ...string) (seen, *exec.Cmd, *os.File) {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(w.path[0], "claude"), args...)
	cmd.Args[0] = "claude"
	cmd.Env = append(append([]string{"PATH=" + strings.Join(w.path, ":"), "TERM=xterm"}, w.env...), env...)
	cmd.Dir = w.dir("work")
	screen, err := pty.Start(cmd)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		screen.Close()
		w.awaitEnds()
	})
	line, err := bufio.NewReader(screen).ReadString('\n')
	if err != nil {
		w.t.Fatalf("%q, %v", line, err)
	}
	var s seen
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		w.t.Fatalf("%q: %v", line, err)
	}
	return s, cmd, screen
}

// awaitEnds waits until every process that launched or held a session of this
// world has ended: a holder writes its last after its CLI is gone.
func (w *world) awaitEnds() {
	for _, e := range w.entries() {
		fd, err := unix.PidfdOpen(ledger.Value(e.LauncherPID), 0)
		if err != nil {
			continue
		}
		if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 30_000); n == 0 || err != nil && err != unix.EINTR {
			w.t.Errorf("process %d of session %s still runs", *e.LauncherPID, e.LedgerID)
		}
		unix.Close(fd)
	}
}

func TestATypedLaunchIsHosted(t *testing.T) {
	w := newWorld(t)
	s, cmd, _ := w.terminal(nil)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("ended with %v", err)
	}
	e := w.onlyEntry()
	if *e.PID != s.PID || *e.LauncherPID == cmd.Process.Pid || !*e.Interactive || ledger.Value(e.TTY) == ledger.Value(e.ClientTTY) {
		t.Errorf("%+v, CLI %d, shim %d", e, s.PID, cmd.Process.Pid)
	}
	if e.ExitStatus == nil || ledger.Value(e.ExitStatus.Code) != 7 {
		t.Errorf("exit status %+v", e.ExitStatus)
	}
	if s.Dir != w.at("work") || variable(s.Env, "AGENT_LEDGER_ID") != e.LedgerID || variable(s.Env, "TERM") != "xterm" {
		t.Errorf("%+v", s)
	}
}

func TestAHeadlessFormOnATerminalIsNotHosted(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct{ env, args []string }{{nil, []string{"-p", "x"}}, {[]string{"AGENTWRAP_HOST=never"}, nil}} {
		s, cmd, _ := w.terminal(tc.env, tc.args...)
		if s.PID != cmd.Process.Pid {
			t.Errorf("%v: the CLI is %d, what was typed %d", tc, s.PID, cmd.Process.Pid)
		}
		_ = cmd.Wait()
	}
	for _, e := range w.entries() {
		if e.HostSocket != nil || e.TmuxSocket != nil || *e.PID != *e.LauncherPID || e.TTY == nil {
			t.Errorf("%+v", e)
		}
	}
}

func TestALaunchWithinAHostIsNotHostedAgain(t *testing.T) {
	w := newWorld(t)
	inner := filepath.Join(w.path[0], "claude")
	w.script("outer/claude", "#!/bin/sh\nPATH="+w.path[0]+":"+w.path[1]+" "+inner+"\n")
	real := w.path
	w.path = []string{w.path[0], w.at("outer"), "/bin", "/usr/bin"}
	_, cmd, _ := w.terminal(nil)
	_ = cmd.Wait()
	w.path = real
	hosted, nested := 0, 0
	for _, e := range w.entries() {
		if ledger.Value(e.TTY) != ledger.Value(e.ClientTTY) {
			hosted++
			continue
		}
		nested++
		if ledger.Value(e.LaunchedBy) != "agent" || !*e.Interactive {
			t.Errorf("%+v", e)
		}
	}
	if hosted != 1 || nested != 1 {
		t.Errorf("%d hosted, %d nested", hosted, nested)
	}
}

func TestADetachedLaunchNeedsNoTerminalAndSaysItsID(t *testing.T) {
	w := newWorld(t)
	t.Cleanup(w.awaitEnds)
	r := w.runWith([]string{"AGENTWRAP_HOST=detached", "AGENTWRAP_SIZE=100x30"})
	e := w.onlyEntry()
	if r.code != 0 || strings.TrimSpace(r.stdout) != e.LedgerID || r.stderr != "" || !*e.Interactive || e.TTY == nil || e.ClientTTY != nil {
		t.Errorf("%+v, %+v", r, e)
	}
}

func TestADetachedLaunchThatCannotBeHostedIsNotStarted(t *testing.T) {
	w := newWorld(t)
	w.script("ledger", "a file where the ledger should be")
	r := w.runWith([]string{"AGENTWRAP_HOST=detached"})
	if r.code != 126 || r.stdout != "" || !strings.Contains(r.stderr, "could not be recorded") {
		t.Errorf("%+v", r)
	}
}
