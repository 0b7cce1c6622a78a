package become

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The test binary plays every program by its argv[0].
func TestMain(m *testing.M) {
	switch os.Args[0] {
	case "launcher":
		launcherMain(os.Args[1:])
	case "parent":
		parentMain(os.Args[1:])
	case "agentwrap":
		os.Exit(ChildMain())
	}
	os.Exit(m.Run())
}

// launcherMain is the launcher whose process state the CLI must find: it sets what its first arguments say
// and execs the rest.
func launcherMain(args []string) {
	runtime.LockOSThread()
	ignored, _ := strconv.ParseUint(args[0], 16, 64)
	blocked, _ := strconv.ParseUint(args[1], 16, 64)
	umask, _ := strconv.ParseInt(args[2], 8, 32)
	files, _ := strconv.ParseUint(args[3], 10, 64)
	mask := SignalSet(blocked)
	unix.Umask(int(umask))
	_ = syscall.Setrlimit(unix.RLIMIT_NOFILE, &syscall.Rlimit{Cur: files, Max: 4096})
	applyDispositions(SignalSet(ignored))
	threadMask(howSetMask, &mask)
	fmt.Fprintln(os.Stderr, syscall.Exec(args[4], args[4:], os.Environ()))
	os.Exit(127)
}

// launch runs argv from a launcher in that state and returns what it wrote.
func launch(t *testing.T, ignored, blocked SignalSet, argv ...string) string {
	t.Helper()
	state := []string{"launcher", fmt.Sprintf("%x", ignored), fmt.Sprintf("%x", blocked), "027", "1000"}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append(state, argv...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return string(out)
}

// facts are what a program can see of the state it was exec'd in.
func facts(status string) string {
	var kept []string
	for line := range strings.Lines(status) {
		for _, key := range []string{"Sig", "Umask", "Max ", "nice "} {
			if strings.HasPrefix(line, key) && !strings.HasPrefix(line, "SigQ") {
				kept = append(kept, line)
			}
		}
	}
	return strings.Join(kept, "")
}

// buildProbe builds the command in testdata/name with EntryFlag.
func buildProbe(t *testing.T, name string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-ldflags="+EntryFlag, "-o", out, "./testdata/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if log, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, log)
	}
	return out
}

func TestInPlaceHandsOnEverySignalDisposition(t *testing.T) {
	probe := buildProbe(t, "inplace")
	sets := []SignalSet{0, 1<<63 | 1<<12 | 1<<14, ^SignalSet(0)}
	for n := 1; n <= lastSignal; n++ {
		sets = append(sets, 1<<(n-1))
	}
	cat := []string{"/bin/cat", "/proc/self/status", "/proc/self/limits"}
	for _, ignored := range sets {
		for _, blocked := range []SignalSet{0, SignalSet(bits.Reverse64(uint64(ignored))) | ignored} {
			native := facts(launch(t, ignored, blocked, cat...))
			ours := facts(launch(t, ignored, blocked, append([]string{probe}, cat...)...))
			if native != ours {
				t.Errorf("ignored %x, blocked %x\nnative:\n%sthrough the shim:\n%s", ignored, blocked, native, ours)
			}
		}
	}
}

func TestInPlaceKeepsArgvAndEnvironmentBytes(t *testing.T) {
	probe := buildProbe(t, "inplace")
	argv := []string{"/usr/bin/printf", "[%s]", "", "a b", "\xff\xfe", "new\nline", "--flag=ü"}
	env := []string{"B=2", "A=1", "B=3", "noequals", "", "X=\xff", "N=a\nb", "BIG=" + strings.Repeat("y", 100_000)}
	for _, prefix := range [][]string{nil, {probe}} {
		if got, want := run(t, env, append(prefix, argv...)), "[][a b][\xff\xfe][new\nline][--flag=ü]"; got != want {
			t.Errorf("%v: arguments %q, want %q", prefix, got, want)
		}
		if got, want := run(t, env, append(prefix, "/bin/cat", "/proc/self/environ")), strings.Join(env, "\x00")+"\x00"; got != want {
			t.Errorf("%v: environment of %d bytes, want %d", prefix, len(got), len(want))
		}
	}
}

// run execs argv with exactly env, which os/exec would clear of duplicates.
func run(t *testing.T, env, argv []string) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: env, Files: []uintptr{0, write.Fd(), 2}})
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status != 0 {
		t.Fatalf("%q: status %v, %v", argv, status, err)
	}
	return string(out)
}

func TestInPlaceReturnsOnFailureWithTheProcessAsItWas(t *testing.T) {
	before, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		t.Fatal(err)
	}
	spec := Capture()
	spec.Path, spec.Argv = filepath.Join(t.TempDir(), "absent"), []string{"absent"}
	spec.Ignored, spec.Blocked = 1<<(unix.SIGTERM-1), 1<<(unix.SIGUSR1-1)
	err = InPlace(spec)
	if !errors.Is(err, unix.ENOENT) || !strings.Contains(err.Error(), spec.Path) {
		t.Errorf("error %v, want ENOENT with the path", err)
	}
	after, _ := os.ReadFile("/proc/thread-self/status")
	for _, key := range []string{"SigIgn", "SigCgt", "Umask"} {
		if line(before, key) != line(after, key) {
			t.Errorf("%s was %q, is %q", key, line(before, key), line(after, key))
		}
	}
	spec.Dir = spec.Path
	if err := InPlace(spec); !errors.Is(err, unix.ENOENT) || !strings.Contains(err.Error(), "directory") {
		t.Errorf("error %v, want the directory named", err)
	}
}

func line(status []byte, key string) string {
	_, rest, _ := bytes.Cut(status, []byte(key+":"))
	value, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(value)
}
