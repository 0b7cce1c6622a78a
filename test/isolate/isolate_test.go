package isolate

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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

func TestWhatIsLeftBehindIsKilled(t *testing.T) {
	name := os.Getenv("ORPHAN")
	if !Inside() {
		name = fmt.Sprintf("orphan-of-%d", os.Getpid())
		t.Setenv("ORPHAN", name)
	}
	Test(t, func(t *testing.T) {
		cmd := exec.Command("sleep", "1000")
		cmd.Args[0] = name
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !running(t, name) {
			t.Error("the orphan does not run")
		}
	})
	if !Inside() && running(t, name) {
		t.Error("the orphan still runs")
	}
}

// running tells whether a process was started under this name.
func running(t *testing.T, name string) bool {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if data, _ := os.ReadFile(f); strings.HasPrefix(string(data), name+"\x00") {
			return true
		}
	}
	return false
}

// Programs that do not heed TMPDIR leave nothing in the machine's /tmp, and what is there can be read.
func TestApartCoversTmp(t *testing.T) {
	probe := filepath.Join("/tmp", "agentwrap-isolate-probe")
	TestApart(t, func(t *testing.T, dir string) {
		if err := os.WriteFile(probe, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kept"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := os.Stat(probe); !Inside() && err == nil {
		t.Errorf("%s was written outside", probe)
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
