package cleanup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
	"agentwrap/test/isolate"
)

func TestLinksAreRemovedNeverFollowed(t *testing.T) {
	w := newWorld(t)
	dir := w.made("x", 8)
	w.must(os.Symlink(w.outside, dir+"/out"), os.Symlink(w.outside+"/precious", dir+"/sub/file-out"), os.Symlink("/", dir+"/root"), os.Link(w.outside+"/precious", dir+"/hard"))
	w.age(dir, 8)
	w.clean()
	w.holds(map[string]bool{dir: false})
	if raw, err := os.ReadFile(w.outside + "/precious"); err != nil || string(raw) != "x" {
		t.Errorf("outside: %q, %v", raw, err)
	}
}

func TestAFolderWithAMountInItStays(t *testing.T) { isolate.TestAsRoot(t, mountedFolderStays) }

func mountedFolderStays(t *testing.T) {
	w := newWorld(t)
	bound, deep, file, itself := w.made("bound", 8), w.made("deep", 8), w.made("file", 8), w.made("itself", 8)
	w.must(os.MkdirAll(deep+"/a/b", 0o700))
	for target, source := range map[string]string{bound + "/sub": w.outside, deep + "/a/b": w.outside, file + "/sub/file": w.outside + "/precious", itself: w.outside} {
		w.must(unix.Mount(source, target, "", unix.MS_BIND, ""))
		t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
	}
	w.age(deep, 8)
	w.must(os.WriteFile(w.outside+"/file", nil, 0o600), os.Mkdir(w.outside+"/sub", 0o700), os.WriteFile(w.outside+"/sub/file", nil, 0o600))
	for session, o := range w.clean() {
		if o.State != Unproved || o.Removed || !strings.Contains(o.Why, "mounted") {
			t.Errorf("%s: %s: %s", session, o.State, o.Why)
		}
	}
	w.holds(map[string]bool{deep: true})
	for _, path := range []string{w.outside + "/sub/file", file + "/sub/file", bound + "/.session", itself + "/precious"} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
}

// Between the plan and the deletion something else happens to a folder.
func TestWhatHappensAfterThePlanCounts(t *testing.T) { isolate.Test(t, happensAfterThePlan) }

func happensAfterThePlan(t *testing.T) {
	var started *exec.Cmd
	for _, tc := range []struct {
		name   string
		happen func(w *world, dir string)
		state  State
		failed error
		kept   bool
	}{
		{name: "nothing", happen: func(*world, string) {}, state: Due},
		{name: "it is swapped for a link", kept: true, failed: unix.ENOTDIR, state: Due, happen: func(w *world, dir string) {
			w.must(os.Rename(dir, dir+"-moved"), os.Symlink(dir+"-moved", dir))
		}},
		{name: "it is swapped for a link that leads outside", failed: unix.ENOTDIR, state: Due, happen: func(w *world, dir string) {
			w.must(os.RemoveAll(dir), os.Symlink(w.outside, dir))
		}},
		{name: "it is swapped for another folder", kept: true, failed: statefile.ErrReplaced, state: Due, happen: func(w *world, dir string) {
			w.must(os.Rename(dir, w.outside+"/was"))
			w.made("x", 30)
		}},
		{name: "a folder in it is swapped for a link", state: Due, happen: func(w *world, dir string) {
			w.must(os.Rename(dir+"/sub", w.outside+"/sub"), os.Symlink(w.outside, dir+"/sub"))
			w.age(dir, 8)
		}},
		{name: "a file in it changes", kept: true, state: Resting, happen: func(w *world, dir string) {
			w.must(os.WriteFile(dir+"/sub/file", []byte("new"), 0o600))
		}},
		{name: "its session is resumed", kept: true, state: Live, happen: func(w *world, dir string) {
			w.row(&ledger.Entry{Scratch: ledger.Ptr(dir)})
		}},
		{name: "the lease table breaks", kept: true, state: Unproved, happen: func(w *world, _ string) { w.lease("{") }},
		{name: "a process enters", kept: true, state: InUse, happen: func(w *world, dir string) {
			started = exec.Command("sh", "-c", "echo there; read x")
			started.Dir = dir
			in, err := started.StdinPipe()
			out, oerr := started.StdoutPipe()
			w.must(err, oerr, started.Start())
			_, err = out.Read(make([]byte, 1))
			w.must(err)
			w.Cleanup(func() { in.Close(); _ = started.Wait() })
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			dir := w.made("x", 8)
			root, err := w.open()
			w.must(err)
			defer root.Close()
			planned, err := w.plan(root)
			w.must(err)
			if planned[0].State != Due {
				t.Fatalf("planned %+v", planned)
			}
			tc.happen(w, dir)
			o := w.carryOut(root, planned)[0]
			if o.State != tc.state || !errors.Is(o.Failed, tc.failed) || o.Removed != (tc.state == Due && tc.failed == nil) {
				t.Errorf("got %s (%s), removed %t, %v", o.State, o.Why, o.Removed, o.Failed)
			}
			w.holds(map[string]bool{dir: tc.kept})
			if left, _ := filepath.Glob(filepath.Join(w.Root, begunPrefix+"*")); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestManyCleaningsAtOnce(t *testing.T) {
	w := newWorld(t)
	const folders = 30
	want := map[string]bool{}
	for i := range folders {
		want[w.made(fmt.Sprint("s", i), 8)] = false
		want[w.made(fmt.Sprint("live", i), 2)] = true
	}
	removed := make(chan int)
	for range 4 {
		go func() {
			outcomes, err := w.Clean(time.Minute)
			n := 0
			for _, o := range outcomes {
				if o.Removed {
					n++
				}
				err = errors.Join(err, o.Failed)
			}
			if err != nil {
				t.Error(err)
			}
			removed <- n
		}()
	}
	total := 0
	for range 4 {
		total += <-removed
	}
	if total != folders {
		t.Errorf("%d removals of %d folders", total, folders)
	}
	w.holds(want)
}

func TestNoRootIsNoFolders(t *testing.T) {
	c := Cleaner{Root: filepath.Join(t.TempDir(), "none"), Ledger: ledger.Open(t.TempDir())}
	if plan, err := c.Plan(); err != nil || plan != nil {
		t.Errorf("plan %v, %v", plan, err)
	}
	if outcomes, err := c.Clean(time.Hour); err != nil || outcomes != nil {
		t.Errorf("clean %v, %v", outcomes, err)
	}
	if _, err := os.Lstat(c.Root); err == nil {
		t.Error("the root was made")
	}
}

// killVar makes the test binary clean a root and kill itself at one of its
// deletions.
const killVar = "CLEANUP_TEST_KILL"

func TestKilledAtAnyDeletionTheNextCleaningFinishes(t *testing.T) {
	if spec := os.Getenv(killVar); spec != "" {
		cleanUntilKilled(t, spec)
		return
	}
	for n := 1; ; n++ {
		w := newWorld(t)
		gone, live := w.made("gone", 8), w.made("live", 8)
		w.row(&ledger.Entry{Scratch: ledger.Ptr(live)})
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", killVar, n, w.Root))
		out, err := cmd.CombinedOutput()
		if err == nil {
			if n < 5 {
				t.Fatalf("only %d deletions", n-1)
			}
			return
		}
		if !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v\n%s", err, out)
		}
		// Removal goes on where it was cut short, under the name it has now.
		for _, o := range w.clean() {
			if o.Failed != nil {
				t.Errorf("killed at %d: %v", n, o.Failed)
			}
		}
		w.holds(map[string]bool{gone: false, live: true})
		if left, _ := filepath.Glob(filepath.Join(w.Root, begunPrefix+"*")); len(left) != 0 {
			t.Errorf("killed at %d: left behind: %q", n, left)
		}
	}
}

func cleanUntilKilled(t *testing.T, spec string) {
	var n int
	var root string
	if _, err := fmt.Sscanf(spec, "%d %s", &n, &root); err != nil {
		t.Fatal(err)
	}
	defer statefile.Inject(func(op, _ string) error {
		if op == "unlink" {
			if n--; n == 0 {
				return unix.Kill(os.Getpid(), unix.SIGKILL)
			}
		}
		return nil
	})()
	base := filepath.Dir(root)
	c := Cleaner{Root: root, LeaseRoot: base + "/leases", Ledger: ledger.Open(base + "/ledger"), Now: time.Now(), Rest: 7 * day}
	if _, err := c.Clean(time.Minute); err != nil {
		t.Fatal(err)
	}
}
