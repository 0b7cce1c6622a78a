package isolate

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestProcShowsOnlyTheTest(t *testing.T) {
	Test(t, func(t *testing.T) {
		pids, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			t.Fatal(err)
		}
		if want := 2; len(pids) != want || os.Getppid() != 1 {
			t.Errorf("processes: %v, parent %d; want the first process and the test alone", pids, os.Getppid())
		}
	})
}

func TestOnlyLoopbackIsReachable(t *testing.T) {
	Test(t, func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatalf("loopback is down: %v", err)
		}
		defer l.Close()
		if conn, err := net.DialTimeout("tcp", l.Addr().String(), time.Minute); err != nil {
			t.Errorf("loopback is not reachable: %v", err)
		} else {
			conn.Close()
		}
		// 192.0.2.0/24 is reserved for documentation (RFC 5737).
		if conn, err := net.DialTimeout("tcp", "192.0.2.1:80", time.Minute); err == nil {
			conn.Close()
			t.Error("a connection left the namespace")
		} else if !strings.Contains(err.Error(), "unreachable") {
			t.Errorf("dial: %v; want the network to be unreachable", err)
		}
	})
}

// An orphan that holds a pipe open ends with its namespace: the pipe reports end of file.
func TestWhatIsLeftBehindIsKilled(t *testing.T) {
	said := make(chan string, 1)
	if !Inside() {
		fifo := filepath.Join(t.TempDir(), "fifo")
		t.Setenv("FIFO", fifo)
		if err := unix.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		go func() {
			data, err := os.ReadFile(fifo)
			said <- fmt.Sprint(string(data), err)
		}()
	}
	Test(t, func(t *testing.T) {
		cmd := exec.Command("sh", "-c", `exec 3>"$FIFO"; echo held >&3; echo ready; exec sleep 1000`)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := io.ReadAll(io.LimitReader(out, 6)); string(line) != "ready\n" {
			t.Fatalf("orphan: %q, %v", line, err)
		}
	})
	if Inside() {
		return
	}
	if got := <-said; got != "held\n<nil>" {
		t.Errorf("the orphan's pipe gave %q", got)
	}
}

func TestSkipAndFailureArePassedOn(t *testing.T) {
	if os.Getenv("ISOLATE_FAIL") != "" {
		Test(t, func(t *testing.T) { t.Fatal("wanted") })
	}
	t.Run("skip", func(t *testing.T) {
		defer func() {
			if !t.Skipped() {
				t.Error("a skip inside was not passed on")
			}
		}()
		Test(t, func(t *testing.T) { t.Skip("wanted") })
	})
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestSkipAndFailureArePassedOn$")
	cmd.Env = append(os.Environ(), "ISOLATE_FAIL=1")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("a failure inside was not passed on:\n%s", out)
	}
}
