package git

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// beAParent makes the test binary a program that starts git and is killed.
const beAParent = "GIT_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(beAParent) != "" {
		r, err := New(os.Environ())
		if err == nil {
			_, err = r.Run(context.Background(), Command{Dir: "/", Args: []string{"status"}})
		}
		panic(err)
	}
	os.Exit(m.Run())
}

// ended waits for the process's end, which the kernel tells.
func ended(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 20_000)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n != 1 {
			t.Errorf("process %d goes on: %d, %v", pid, n, err)
		}
		return
	}
}

// fifo is a pipe by name that a stand-in writes its process id to.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pids")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func pidFrom(t *testing.T, path string) int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestTheLimitEndsGitAndWhatItStarted(t *testing.T) {
	pids := fifo(t)
	r := script(t, "sleep 1000 & echo $! >"+pids+"; wait\n")
	child := make(chan int, 1)
	go func() { child <- pidFrom(t, pids) }()
	_, err := r.Run(context.Background(), Command{Dir: "/", Args: []string{"status"}, Limit: 300 * time.Millisecond})
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != -1 || err.Error() != "git status in /: ended after 300ms" {
		t.Errorf("ended with %v", err)
	}
	ended(t, <-child)
}

func TestGitEndsWithItsParentUnlessItShallFinish(t *testing.T) {
	pids := fifo(t)
	r := script(t, "echo $$ >"+pids+"; exec sleep 1000\n")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(r.environ, beAParent+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child := pidFrom(t, pids)
	cmd.Process.Kill()
	cmd.Wait()
	ended(t, child)
	if attr := r.prepare(t.Context(), Command{Args: []string{"update-ref"}, Finish: true}).SysProcAttr; attr.Pdeathsig != 0 {
		t.Error("a command that shall finish is ended with its parent")
	}
}

func TestAFailureSaysWhatGitSaid(t *testing.T) {
	r := script(t, "echo out; for i in $(seq 2000); do echo noise; done >&2; echo 'fatal: no' >&2; exit 3\n")
	out, err := r.Run(context.Background(), Command{Dir: "/tmp", Args: []string{"status"}})
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != 3 || err.Error() != "git status in /tmp: fatal: no" {
		t.Errorf("ended with %.200v", err)
	}
	if string(out) != "out\n" {
		t.Errorf("printed %q", out)
	}
	r = script(t, "for i in $(seq 2000); do echo noise $i; done >&2; exit 3\n")
	if _, err = r.Run(context.Background(), Command{Dir: "/", Args: []string{"status"}}); err == nil || err.Error() != "git status in /: noise 1998; noise 1999; noise 2000" {
		t.Errorf("ended with %.200v", err)
	}
	_, err = r.Run(context.Background(), Command{Dir: "/nonexistent", Args: []string{"status"}})
	if !errors.As(err, &failed) || failed.Cause == nil {
		t.Errorf("in no folder: %v", err)
	}
}

func TestAProcessIsTalkedTo(t *testing.T) {
	r := script(t, "while read line; do echo \"got $line\"; done; echo end; echo bad >&2; exit 2\n")
	p, err := r.Start(context.Background(), Command{Dir: "/", Args: []string{"cat-file"}})
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(p.Stdin, "one\n")
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); line != "got one\n" || err != nil {
		t.Errorf("answered %q, %v", line, err)
	}
	if err := p.Wait(); err == nil || err.Error() != "git cat-file in /: bad" {
		t.Errorf("ended with %v", err)
	}
	hung, err := script(t, "sleep 1000\n").Start(context.Background(), Command{Dir: "/", Args: []string{"cat-file"}})
	if err != nil {
		t.Fatal(err)
	}
	hung.Kill()
	if _, err := r.Start(context.Background(), Command{Dir: "/nonexistent", Args: []string{"cat-file"}}); err == nil {
		t.Error("started in a folder that is not there")
	}
}

func TestTheVersionDecidesHowObjectsAreFlushed(t *testing.T) {
	for printed, want := range map[string]string{
		"git version 2.30.2":                    "core.fsyncObjectFiles=true",
		"git version 2.35.8":                    "core.fsyncObjectFiles=true",
		"git version 2.36.0":                    "core.fsync=committed,reference",
		"git version 2.39.5 (Apple Git-154)":    "core.fsync=committed,reference",
		"git version 3.0.rc1":                   "core.fsync=committed,reference",
		"git version 2.47.0.163.g1226f6d8fa-oo": "core.fsync=committed,reference",
	} {
		asked := filepath.Join(t.TempDir(), "asked")
		r := script(t, "echo x >>"+asked+"; echo '"+printed+"'\n")
		for range 3 {
			config, err := r.Durable(context.Background())
			if err != nil || len(config) != 1 || config[0] != want {
				t.Errorf("%s: %q, %v", printed, config, err)
			}
		}
		if times, _ := os.ReadFile(asked); string(times) != "x\n" {
			t.Errorf("git was asked %d times", len(times)/2)
		}
	}
	if _, err := script(t, "echo hello\n").Durable(context.Background()); err == nil {
		t.Error("any answer is taken for a version")
	}
}
