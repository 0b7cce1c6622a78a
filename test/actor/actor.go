// Package actor lets a test binary play the agent CLIs: processes that have the shape of a session (name, arguments,
// environment, children) and do nothing until the test ends. The test package's TestMain calls [Play] first.
package actor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// RoleVar says which part a re-executed test binary plays.
const RoleVar = "AGENTWRAP_TEST_ACTOR"

// Roles that every test binary can play.
const (
	// Wait says that it is there and waits until its standard input ends.
	Wait = "wait"
	// Burn does the same and uses all the cpu it can get.
	Burn = "burn"
	// Nest runs one more of itself that waits, in a process group of its own, as the CLIs do with what their tools run.
	Nest = "nest"
)

// Play plays a part and ends the process, where it was started for one. more are the test package's own parts.
func Play(more map[string]func() int) {
	role := os.Getenv(RoleVar)
	if role == "" {
		return
	}
	if part, ok := more[role]; ok {
		os.Exit(part())
	}
	switch role {
	case Nest:
		os.Exit(nest())
	case Burn:
		go func() {
			for spun := new(atomic.Uint64); ; {
				spun.Add(1)
			}
		}()
	}
	Stay()
	os.Exit(0)
}

// Stay says that the process is there and waits until its standard input ends.
func Stay() {
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func nest() int {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{os.Args[0]}
	cmd.Env = append(os.Environ(), RoleVar+"="+Wait)
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Run() != nil {
		return 1
	}
	return 0
}

// Program is a process to start.
type Program struct {
	// Path is the program, this test binary where it is empty.
	Path string
	Argv []string
	// Role is Wait where it is empty.
	Role string
	// Env is added to PATH, the role and SELF, the path of the test binary.
	Env []string
	Dir string
	// Attr has its process attributes.
	Attr *syscall.SysProcAttr
}

// Process is a program that runs until End or the end of the test.
type Process struct {
	*exec.Cmd
	stdin io.Closer
}

// Command is a program that is not started yet.
func (p Program) Command(t testing.TB) *exec.Cmd {
	t.Helper()
	if p.Path == "" {
		p.Path = Self(t)
	}
	if p.Role == "" {
		p.Role = Wait
	}
	cmd := exec.Command(p.Path)
	cmd.Args, cmd.Dir, cmd.SysProcAttr = p.Argv, p.Dir, p.Attr
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "SELF=" + Self(t), RoleVar + "=" + p.Role}, p.Env...)
	return cmd
}

// Start starts a program and waits until it says that it is there.
func (p Program) Start(t testing.TB) Process {
	t.Helper()
	cmd := p.Command(t)
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
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%v did not start: %q, %v", p.Argv, line, err)
	}
	return Process{cmd, in}
}

// PID is the process's id.
func (p Process) PID() int { return p.Process.Pid }

// End lets the program end by itself and waits for it.
func (p Process) End() {
	_ = p.stdin.Close()
	_ = p.Wait()
}

// Kill kills the program and waits for it.
func (p Process) Kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// Self is the path of the test binary.
func Self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Named is a copy of the test binary under another name, which other users can run too.
func Named(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(Self(t))
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	if err = errors.Join(err, os.WriteFile(path, raw, 0o755), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

// Script is a bash script of that name; $SELF is the test binary.
func Script(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/bash\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Wrapper is the program that is a script of that name which runs the CLI as its child, as node packages do.
func Wrapper(t testing.TB, name string, args ...string) Program {
	t.Helper()
	script := Script(t, name, `(exec -a `+name+` "$SELF" "$@"); true`)
	return Program{Path: "/bin/bash", Argv: append([]string{"bash", script}, args...)}
}

// With is the program with more in its environment.
func (p Program) With(env ...string) Program {
	p.Env = append(p.Env[:len(p.Env):len(p.Env)], env...)
	return p
}
