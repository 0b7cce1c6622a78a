package procscan

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"agentwrap/test/isolate"
)

// The test binary plays the CLIs, under whatever name it is started: it says
// that it is there and waits until its standard input ends.
func TestMain(m *testing.M) {
	if role := os.Getenv(playVar); role != "" {
		os.Exit(play(role))
	}
	os.Exit(isolate.Main(m))
}

const playVar = "PROCSCAN_TEST_PLAY"

func play(role string) int {
	switch role {
	case "scan":
		// Prints what another user sees.
		s, err := Take(covered)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		for _, p := range s.Processes {
			fmt.Println(p.PID, p.LedgerID, p.Unreadable)
		}
		return 0
	case "children":
		// A session that runs one more of itself, in a process group of its own
		// as the CLIs do with what their tools run.
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = []string{os.Args[0]}
		cmd.Env = append(os.Environ(), playVar+"=wait")
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Run(); err != nil {
			return 1
		}
		return 0
	case "hold":
		if err := hold(os.Args[1], os.Args[2]); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func covered(name string) bool {
	return slices.Contains([]string{"claude", "codex", "kilo", "agent"}, name)
}

// started is a program that runs until the test ends.
type started struct {
	*exec.Cmd
	stdin io.Closer
}

type program struct {
	path  string // this test binary where it is empty
	argv  []string
	env   []string
	attr  *syscall.SysProcAttr
	ready int // how many processes report that they are there
}

func (p program) start(t *testing.T) started {
	t.Helper()
	if p.path == "" {
		p.path = self(t)
	}
	cmd := exec.Command(p.path)
	cmd.Args, cmd.Env, cmd.SysProcAttr = p.argv, append([]string{"PATH=" + os.Getenv("PATH"), "SELF=" + self(t), playVar + "=wait"}, p.env...), p.attr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	for range max(p.ready, 1) {
		if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("%v did not start: %q, %v", p.argv, line, err)
		}
	}
	return started{cmd, in}
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// named is this test binary under another name, for other users too.
func named(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(self(t))
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	if err = errors.Join(err, os.WriteFile(path, raw, 0o755), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/bash\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func scan(t *testing.T) *Snapshot {
	t.Helper()
	s, err := Take(covered)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
