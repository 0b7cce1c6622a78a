package host

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shell is an interactive bash on a terminal, with job control.
func (s *stage) shell(t *testing.T) *screen {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		missing(t, err)
	}
	c := s.onProgram(bash, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "PS1=prompt> ", "HISTFILE=", "PATH=/usr/bin:/bin") }, "bash", "--norc", "--noprofile", "-i")
	c.expect("prompt> ")
	return c
}

// command is what runs a scenario in a shell, natively or hosted; the session ends with the test.
func (s *stage) command(t *testing.T, hosted bool, args ...string) (line, id string) {
	t.Helper()
	line = strings.Join(append([]string{"PATH=" + s.path, s.link("cli")}, args...), " ")
	if hosted {
		id = s.birth()
		line = strings.Join(append([]string{"PATH=" + s.path, s.link("shim"), s.root, id, s.self, "cli"}, args...), " ")
		t.Cleanup(func() { s.endSession(id) })
	}
	return line, id
}

// bothInAShell runs a test in an interactive shell, natively and hosted.
func bothInAShell(t *testing.T, test func(t *testing.T, sh *screen, run func(args ...string) (line, id string))) {
	t.Run("native", func(t *testing.T) {
		s := newStage(t, "")
		test(t, s.shell(t), func(args ...string) (string, string) { return s.command(t, false, args...) })
	})
	eachHost(t, func(t *testing.T, s *stage) {
		test(t, s.shell(t), func(args ...string) (string, string) { return s.command(t, true, args...) })
	})
}

// awaitStopped has the shell wait until its job is stopped.
func (c *screen) awaitStopped() {
	c.t.Helper()
	c.typed(`until [ -n "$(jobs -s)" ]; do sleep .01; done; echo halt''ed` + "\r")
	c.expect("halted")
}

func TestFidelity20JobControl(t *testing.T) { // viwo#143, vibetunnel#278
	bothInAShell(t, func(t *testing.T, sh *screen, run func(...string) (string, string)) {
		line, _ := run("lines")
		sh.typed(line + "\r")
		sh.expect("ready")
		sh.typed("one\r")
		sh.expect("got one")
		sh.typed("\x1a")
		sh.expect("Stopped")
		sh.expect("prompt> ")
		sh.typed("echo in the shell $((40+2))\r")
		sh.expect("in the shell 42")
		sh.typed("fg\r")
		sh.expect("continued")
		sh.typed("two\r")
		sh.expect("got two")
		sh.typed("\x1a")
		sh.expect("Stopped")
		sh.typed("bg\r") // where it reads
		sh.awaitStopped()
		sh.typed("fg\r")
		sh.expect("continued")
		sh.typed("three\r")
		sh.expect("got three")
		sh.typed("\x1a")
		sh.expect("Stopped")
		sh.expect("prompt> ")
		sh.typed("kill %1; until [ -z \"$(jobs)\" ]; do sleep .01; done\r")
		sh.expect("Terminated")
	})
}

func TestFidelity20Keys(t *testing.T) {
	for key, want := range map[string]string{"\x03": "code 130", "\x1c": "code 131", "\x04": "code 0"} {
		t.Run(fmt.Sprintf("%q", key), func(t *testing.T) {
			bothInAShell(t, func(t *testing.T, sh *screen, run func(...string) (string, string)) {
				line, _ := run("lines")
				sh.typed("ulimit -c 0\r")
				sh.typed(line + "\r")
				sh.expect("ready")
				sh.typed(key)
				sh.expect("prompt> ")
				sh.typed("echo code $?\r")
				sh.expect(want)
			})
		})
	}
}

func TestAJobThatRunsInTheBackgroundComesToTheForeground(t *testing.T) {
	bothInAShell(t, func(t *testing.T, sh *screen, run func(...string) (string, string)) {
		line, _ := run("patient")
		sh.typed(line + "\r")
		sh.expect("ready")
		sh.typed("\x1a")
		sh.expect("Stopped")
		sh.typed("bg\r")
		sh.expect("continued")
		sh.typed("fg\r") // the shell sends no SIGCONT to a job that runs
		sh.expect("patient")
		sh.typed("\r") // now it reads
		sh.expect("got ")
		sh.typed("x\r")
		sh.expect("got x")
		sh.typed("\x03")
		sh.expect("prompt> ")
	})
}

func TestStartedInTheBackground(t *testing.T) {
	bothInAShell(t, func(t *testing.T, sh *screen, run func(...string) (string, string)) {
		line, _ := run("lines")
		sh.typed(line + " &\r")
		sh.expect("ready") // output passes; then it reads
		sh.awaitStopped()
		sh.typed("fg\r")
		sh.expect("continued")
		sh.typed("one\r")
		sh.expect("got one")
		sh.typed("\x04")
		sh.expect("end of input")
		sh.expect("prompt> ")
	})
}

func TestFidelity21TerminalSettings(t *testing.T) {
	bothInAShell(t, func(t *testing.T, sh *screen, run func(...string) (string, string)) {
		sh.typed("stty susp ^Y erase ^H -ixon tostop\r")
		sh.expect("prompt> ")
		line, _ := run("stty")
		sh.typed(line + "\r")
		sh.expect("susp 25 erase 8 ixon 0 tostop 1")
		sh.expect("prompt> ")
		sh.typed("stty -a\r")
		sh.expect("kill = ^P") // as the CLI left it
	})
}

// link is a name of the test binary by which it plays a program.
func (s *stage) link(name string) string { return filepath.Join(s.root, name) }
