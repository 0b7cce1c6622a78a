package stop

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
	"agentwrap/test/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Main(m)) }

// short makes the steps that are expected to fail fail soon.
var short = Order{Grace: Grace{Polite: 300 * time.Millisecond, Term: 300 * time.Millisecond, Kill: time.Minute}}

// session starts a bash script as leader of its own group and waits until it
// has printed as many lines as it starts processes: the pids, its own first.
func session(t *testing.T, script string, lines int) (root process.Identity, pids []int) {
	t.Helper()
	return sessionOf(t, "session", script, lines)
}

// sessionOf is session for a script of that name.
func sessionOf(t *testing.T, name, script string, lines int) (root process.Identity, pids []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("echo $$\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", path)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "AGENT_LEDGER_ID=claude-1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for range lines {
		in.Scan()
		pid, err := strconv.Atoi(strings.TrimSpace(in.Text()))
		if err != nil {
			t.Fatalf("the script printed %q", in.Text())
		}
		pids = append(pids, pid)
	}
	if root, err = process.Of(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	return root, pids
}

func running(t *testing.T, pid int) bool {
	t.Helper()
	st, err := process.ReadStat(pid)
	if err != nil && !errors.Is(err, process.ErrGone) {
		t.Fatal(err)
	}
	return err == nil && st.State != 'Z'
}

func TestTreeEndsAllOfIt(t *testing.T) {
	for _, c := range []struct {
		name, script string
		lines        int
		want         unix.Signal
	}{
		{"one that obeys", `trap 'kill $!; exit 0' TERM; sleep 1000 & echo $!; wait`, 2, unix.SIGTERM},
		{"children in sessions of their own", `setsid sleep 1000 & echo $!; sleep 1000 & echo $!; wait`, 3, unix.SIGTERM},
		// gm: a wrapper alone ignores TERM, its child does not.
		{"a wrapper that ignores TERM", `trap '' TERM; (trap - TERM; exec sleep 1000) & echo $!; wait; sleep 1000`, 2, unix.SIGKILL},
		{"none that obeys", `trap '' TERM; sleep 1000 & echo $!; sleep 1000`, 2, unix.SIGKILL},
		{"a stopped one", `kill -STOP $$`, 1, unix.SIGTERM},
		{"one that starts another on its way out", `trap 'setsid sleep 1000 & exit' TERM; sleep 1000 & echo $!; wait`, 2, unix.SIGTERM},
	} {
		t.Run(c.name, func(t *testing.T) {
			isolate.Test(t, func(t *testing.T) {
				root, pids := session(t, c.script, c.lines)
				got, err := Tree(context.Background(), "claude-1", root, short)
				if err != nil || got.Signal != c.want || len(got.Left) != 0 || got.Ended < c.lines {
					t.Errorf("got %+v, %v; want %s and at least %d ended", got, err, unix.SignalName(c.want), c.lines)
				}
				for _, pid := range pids {
					if running(t, pid) {
						t.Errorf("process %d still runs", pid)
					}
				}
				if all, err := process.All(); err != nil || countRunning(all) != 2 {
					t.Errorf("%d processes run, want the first of the namespace and the test: %v %v", countRunning(all), all, err)
				}
			})
		})
	}
}

func countRunning(all []process.Stat) (n int) {
	for _, st := range all {
		if st.State != 'Z' {
			n++
		}
	}
	return n
}

// gastown#1681: a recycled pid.
func TestAnotherProcessUnderThePIDIsNeverTouched(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		root, _ := session(t, `sleep 1000`, 1)
		other := root
		other.StartTicks--
		if _, err := Tree(context.Background(), "claude-1", other, short); !errors.Is(err, ErrGone) {
			t.Errorf("got %v, want ErrGone", err)
		}
		if !running(t, root.PID) {
			t.Error("the process was ended")
		}
	})
}

// oc#14504: what a session left in the background.
func TestStraysAreToldAndEndedOnlyWhereAsked(t *testing.T) {
	for name, also := range map[string]bool{"told": false, "ended": true} {
		t.Run(name, func(t *testing.T) {
			isolate.Test(t, func(t *testing.T) {
				root, pids := session(t, `left=$(setsid sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!'); echo $left; exec sleep 1000`, 2)
				order := short
				order.Strays = also
				got, err := Tree(context.Background(), "claude-1", root, order)
				if err != nil || running(t, root.PID) {
					t.Fatalf("got %+v, %v", got, err)
				}
				told := len(got.Strays) == 1 && got.Strays[0].PID == pids[1]
				if also == told || also == running(t, pids[1]) {
					t.Errorf("told %+v; it runs: %t", got.Strays, running(t, pids[1]))
				}
			})
		})
	}
}

func TestASharedDaemonStays(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		daemon := filepath.Join(t.TempDir(), "codex")
		if err := os.WriteFile(daemon, []byte("sleep 1000 & echo $!; wait"), 0o700); err != nil {
			t.Fatal(err)
		}
		root, pids := session(t, `bash `+daemon+` app-server & echo $!; wait`, 3)
		got, err := Tree(context.Background(), "claude-1", root, short)
		if err != nil || got.Ended != 1 {
			t.Errorf("got %+v, %v; want one ended", got, err)
		}
		if !running(t, pids[1]) || !running(t, pids[2]) {
			t.Error("the daemon or its worker was ended")
		}
		id, err := process.Of(pids[1])
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Tree(context.Background(), "claude-1", id, short); !errors.Is(err, ErrShared) {
			t.Errorf("the daemon by itself: got %+v, %v; want ErrShared", got, err)
		}
	})
}

func TestWhoRunsInsideIsRefused(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		first, err := process.Of(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Tree(context.Background(), "claude-1", first, short); !errors.Is(err, ErrInside) {
			t.Errorf("got %v, want ErrInside", err)
		}
	})
}

func TestACancelledStopSaysSo(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		root, _ := session(t, `trap '' TERM; while :; do sleep 1; done`, 1)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Tree(ctx, "claude-1", root, Order{Grace: Grace{Polite: time.Minute}}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		if !running(t, root.PID) {
			t.Error("it was killed all the same")
		}
	})
}

// gm: the wrapper alone ignores TERM. Nobody waits for it: the program behind it is asked at once.
func TestAWrapperThatPassesNothingOnIsNotWaitedFor(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		root, pids := sessionOf(t, "gemini", `trap : TERM
bash -c 'trap "exit 0" TERM; echo $$; sleep 1000 & wait' &
while kill -0 $!; do wait $!; done`, 2)
		got, err := Tree(context.Background(), "claude-1", root, Order{Grace: Grace{Polite: time.Hour, Term: time.Minute, Kill: time.Minute}})
		if err != nil || got.Signal != unix.SIGTERM || running(t, pids[1]) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
