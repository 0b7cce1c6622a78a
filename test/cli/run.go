package cli

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runLimit bounds a command without a terminal.
const runLimit = 5 * time.Minute

// A Result is how a command without a terminal ended.
type Result struct {
	Stdout, Stderr string
	// Code is the exit code, -1 for a death by signal.
	Code int
}

// Run runs a command in the working folder to its end, with stdin as its input and no terminal. The command's name is
// looked up on the world's PATH. One that does not end in five minutes is killed and fails the test.
func (w *World) Run(t testing.TB, stdin string, name string, args ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.look(t, name), args...)
	cmd.Args[0] = name
	cmd.Dir, cmd.Env, cmd.Stdin = w.Work, w.Env, strings.NewReader(stdin)
	// A grandchild that holds the pipes open must not hold the test.
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%s %q: %v\nstdout: %s\nstderr: %s", name, args, err, &stdout, &stderr)
	}
	return Result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// look finds a command on the world's PATH.
func (w *World) look(t testing.TB, name string) string {
	t.Helper()
	if strings.Contains(name, "/") {
		return name
	}
	for _, dir := range filepath.SplitList(w.Getenv("PATH")) {
		if path := filepath.Join(dir, name); executable(path) {
			return path
		}
	}
	t.Fatalf("%s is not on %s", name, w.Getenv("PATH"))
	return ""
}

// Getenv returns a variable of the world's environment, or "".
func (w *World) Getenv(name string) string {
	for i := len(w.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(w.Env[i], name+"="); ok {
			return value
		}
	}
	return ""
}
