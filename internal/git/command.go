package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// DefaultLimit is how long a command may take where it says nothing else.
const DefaultLimit = 2 * time.Minute

// keptStderr is how much of what git says on standard error is kept, in bytes.
const keptStderr = 4096

// Command is one call of git.
type Command struct {
	// Dir is the folder that git runs in.
	Dir string
	// Args are the subcommand and its arguments.
	Args []string
	// Config holds key=value pairs for this call alone.
	Config []string
	// Stdin is read to its end, nothing where nil. [Runner.Start] takes none.
	Stdin io.Reader
	// Stderr gets what git says on standard error, nil for none. [Runner.Start]
	// takes none.
	Stderr io.Writer
	// Limit ends the command after this time, [DefaultLimit] where zero.
	Limit time.Duration
	// NoIndex keeps git from reading the index, for what asks only the object
	// store: a large index costs more than the answer.
	NoIndex bool
	// GitDir is a git folder and an object store in one that the command works
	// in, in place of the repository's; its info/alternates has to name that.
	GitDir string
	// Network lets git fetch what a partial clone lacks.
	Network bool
	// Finish lets the command come to its end when our process is killed. Without it the kernel ends it too,
	// so that nothing is left reading half a stream.
	Finish bool
}

// Run runs c and gives what it printed on standard output. A failure is an [*Error]; its output until then is
// given too.
func (r *Runner) Run(ctx context.Context, c Command) ([]byte, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	cmd := r.prepare(ctx, c)
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout = c.Stdin, &stdout
	stderr := &tail{}
	cmd.Stderr = stderr
	if c.Stderr != nil {
		cmd.Stderr = io.MultiWriter(stderr, c.Stderr)
	}
	runtime.LockOSThread() // the parent death signal is bound to the thread that starts the child
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	return stdout.Bytes(), c.failure(ctx, err, stderr)
}

// Process is a git command that is talked to while it runs.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader
	// Pid is the process id of git.
	Pid int

	cancel context.CancelFunc
	done   chan struct{}
	err    error // how it ended, once done is closed
}

// Start starts c and gives its two ends. [Process.Wait] or [Process.Kill] must follow.
func (r *Runner) Start(ctx context.Context, c Command) (*Process, error) {
	ctx, cancel := c.within(ctx)
	cmd := r.prepare(ctx, c)
	stderr := &tail{}
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, c.failure(ctx, err, stderr)
	}
	out, in := io.Pipe()
	cmd.Stdout = in
	p := &Process{Stdin: stdin, Stdout: out, cancel: cancel, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = c.failure(ctx, cmd.Wait(), stderr)
		in.CloseWithError(io.EOF)
		close(p.done)
	}()
	if err := <-started; err != nil {
		cancel()
		return nil, c.failure(ctx, err, stderr)
	}
	p.Pid = cmd.Process.Pid
	return p, nil
}

// Wait closes standard input and waits for the end. What is left on standard
// output is dropped. It may be called again.
func (p *Process) Wait() error {
	p.Stdin.Close()
	go io.Copy(io.Discard, p.Stdout)
	<-p.done
	p.cancel()
	return p.err
}

// Kill ends the process at once.
func (p *Process) Kill() {
	p.cancel()
	p.Wait()
}

func (c Command) within(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := c.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("ended after %v", limit))
}

func (r *Runner) prepare(ctx context.Context, c Command) *exec.Cmd {
	args := []string{"--no-optional-locks", "--no-pager"}
	for _, pair := range quiet {
		args = append(args, "-c", pair)
	}
	for _, pair := range c.Config {
		args = append(args, "-c", pair)
	}
	cmd := exec.CommandContext(ctx, r.program, append(args, c.Args...)...)
	cmd.Dir = c.Dir
	cmd.Env = r.environ[:len(r.environ):len(r.environ)]
	if !c.Network {
		cmd.Env = append(cmd.Env, offline)
	}
	if c.NoIndex {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE=/nonexistent/index")
	}
	if c.GitDir != "" {
		cmd.Env = append(cmd.Env, "GIT_DIR="+c.GitDir, "GIT_OBJECT_DIRECTORY="+c.GitDir)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if !c.Finish {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// name is git's subcommand.
func (c Command) name() string {
	for _, arg := range c.Args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

// failure makes err, the end of c, an *Error; nil stays nil.
func (c Command) failure(ctx context.Context, err error, stderr *tail) error {
	if err == nil {
		return nil
	}
	failed := &Error{Command: c.name(), Dir: c.Dir, Code: -1, Message: stderr.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		failed.Cause = context.Cause(ctx)
	case errors.As(err, &exit) && exit.Exited():
		failed.Code = exit.ExitCode()
	default:
		failed.Cause = err
	}
	return failed
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - keptStderr; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// toldLines is how many lines of what git said go into an error.
const toldLines = 3

// String is what matters: the lines that git marks as errors, each once, else
// the last ones.
func (t *tail) String() string {
	var errs, all []string
	for line := range strings.Lines(string(t.kept)) {
		line = strings.TrimSpace(line)
		marked := strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ")
		if marked && len(errs) < toldLines && !slices.Contains(errs, line) {
			errs = append(errs, line)
		}
		if line != "" {
			all = append(all, line)
		}
	}
	if len(errs) == 0 {
		errs = all[max(0, len(all)-toldLines):]
	}
	return strings.Join(errs, "; ")
}
