package hookadopt

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/statefile"
	"agentwrap/test/isolate"
)

// playLocker takes the lock at its argument, says so, and stops.
func playLocker() int {
	if _, err := statefile.Acquire(os.Args[1], time.Minute); err != nil {
		return 1
	}
	fmt.Println("locked")
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	return 0
}

// lockAndStop has another process lock a row and stop, as in a debugger or
// under a full disk. The returned function ends it.
func (w *world) lockAndStop(id string) (release func()) {
	w.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"locker", filepath.Join(w.store.Dir(), "lock", id)}
	cmd.Env = []string{roleVar + "=locker", "GORACE=atexit_sleep_ms=0"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 16)); err != nil {
		w.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

func (w *world) pending(id string) int {
	names, _ := os.ReadDir(filepath.Join(w.store.Dir(), "pending", id))
	return len(names)
}

// A row whose lock is held by a process that does not go on: the hooks come
// back all the same, what they said waits, is seen, and is taken in in order.
func TestAStoppedWriterHoldsUpNoHook(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.claude()
		c.event(event("SessionStart", idA))
		id := w.row().LedgerID
		release := w.lockAndStop(id)
		for i, p := range []string{event("UserPromptSubmit", idA), event("SessionEnd", idA, "reason", "resume"), event("SessionStart", idB), event("Stop", idB)} {
			c.event(p)
			// The lock is still held here: the event did not wait for it.
			if n := w.pending(id); n != i+1 {
				t.Fatalf("%d events wait after %d; log: %s", n, i+1, w.logged())
			}
		}
		seen := w.row()
		if ids(seen) != "ab" || *seen.Turn != "yours" || seen.FinishedAt != nil {
			t.Errorf("a reader sees %s", describe(seen))
		}
		release()
		c.event(event("UserPromptSubmit", idB))
		taken := w.row()
		if ids(taken) != "ab" || *taken.Turn != "its" || taken.FinishedAt != nil || w.pending(id) != 0 {
			t.Errorf("taken in: %s, %d wait", describe(taken), w.pending(id))
		}
	})
}
