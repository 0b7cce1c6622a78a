// Package isolate runs one test alone in namespaces of its own, for tests that start, scan or signal processes.
//
// Inside, /proc shows only what the test started, the network is the loopback interface alone, and when the test ends
// the kernel kills whatever it left behind. The test package hands its TestMain to [Main]; a test calls [Test].
package isolate

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// roleVar tells a re-executed test binary which part it plays: roleInit or roleInside.
const roleVar = "AGENTWRAP_TEST_ISOLATE"

// sharedVar names the folder that both sides of [TestApart] see.
const sharedVar = "AGENTWRAP_TEST_SHARED"

// layerDir is where, in that folder, the layer over /tmp is mounted.
const layerDir = ".layer"

const (
	roleInit   = "init"
	roleInside = "inside"
)

// reportMargin is how long before the outer test's deadline the inner one times out, so that its own report is seen.
const reportMargin = 5 * time.Second

// Main runs the tests of a package, or, in a re-executed test binary, the first process of a namespace.
// It returns the exit status for os.Exit.
func Main(m *testing.M) int {
	if os.Getenv(roleVar) == roleInit {
		return runInit()
	}
	return m.Run()
}

// Inside tells whether this process already runs in a namespace of [Test].
func Inside() bool { return os.Getenv(roleVar) == roleInside }

// Test runs body in PID, network and mount namespaces of its own, by running this same test once more there.
// What stands before the call runs on both sides, first outside, where the network is still reachable.
// Where the kernel refuses namespaces the test is skipped, or fails when CI is set.
func Test(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	run(t, os.Geteuid(), os.Getegid(), body)
}

// TestAsRoot is [Test] for a body that mounts: it is root of its namespaces, whoever runs the tests.
func TestAsRoot(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	run(t, 0, 0, body)
}

// TestApart is [Test] for programs that write to /tmp whatever TMPDIR says: inside, such writes stay in memory. dir is an
// empty folder on disk, with a short path, that is not covered so; it is removed once no process of the test is left.
func TestApart(t *testing.T, body func(t *testing.T, dir string)) {
	t.Helper()
	if !Inside() {
		dir, err := os.MkdirTemp("", "aw")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.Mkdir(filepath.Join(dir, layerDir), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv(sharedVar, dir)
	}
	Test(t, func(t *testing.T) { body(t, os.Getenv(sharedVar)) })
}

func run(t *testing.T, uid, gid int, body func(t *testing.T)) {
	t.Helper()
	switch os.Getenv(roleVar) {
	case roleInside:
		body(t)
	case roleInit:
		t.Fatal("isolate: the package's TestMain does not call isolate.Main")
	default:
		runOutside(t, uid, gid)
	}
}

// Missing skips a test because what it needs is not on this machine; with CI set it fails instead.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("missing: "+format, args...)
	}
	t.Skipf("missing: "+format, args...)
}

func runOutside(t *testing.T, uid, gid int) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", innerArgs(t)...)
	cmd.Env = append(os.Environ(), roleVar+"="+roleInit)
	cmd.SysProcAttr = namespaces(uid, gid)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// The death signal is tied to the thread that forks.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		Missing(t, "namespaces: %v", err)
	}
	err := cmd.Wait()
	report(t, out.String(), err)
}

// report passes the inner test's verdict on. A run in which the test did not take place is a failure.
func report(t *testing.T, out string, err error) {
	t.Helper()
	t.Logf("inside its namespaces:\n%s", out)
	switch {
	case err != nil:
		t.Fatalf("inside its namespaces: %v", err)
	case strings.Contains(out, fmt.Sprintf("--- SKIP: %s (", t.Name())):
		t.SkipNow()
	case !strings.Contains(out, fmt.Sprintf("--- PASS: %s (", t.Name())):
		t.Fatal("the test did not run inside its namespaces")
	}
}

func innerArgs(t *testing.T) []string {
	elements := strings.Split(t.Name(), "/")
	for i, e := range elements {
		elements[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	args := []string{"-test.run=" + strings.Join(elements, "/"), "-test.v", "-test.count=1"}
	if deadline, ok := t.Deadline(); ok {
		left := max(time.Until(deadline)-reportMargin, time.Second)
		args = append(args, "-test.timeout="+left.String())
	}
	return args
}

// namespaces asks for the namespaces, and, for an ordinary user, for a user namespace that allows them and in which that
// user is uid and gid.
func namespaces(uid, gid int) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS,
		Pdeathsig:  syscall.SIGKILL,
	}
	if os.Geteuid() == 0 {
		return attr
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_DAC_OVERRIDE}
	return attr
}
