package host

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"agentwrap/internal/become"
)

// launcherMain is whoever starts the CLI, in a process state that is not the usual one, which its first
// arguments say; it execs the rest.
func launcherMain(args []string) int {
	runtime.LockOSThread()
	ignored, _ := strconv.ParseUint(args[0], 16, 64)
	blocked, _ := strconv.ParseUint(args[1], 16, 64)
	unix.Umask(0o027)
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 3)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 0, Max: 1 << 20})
	_ = syscall.Setrlimit(unix.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 321, Max: 4321})
	for n := 1; n <= 64; n++ {
		var action [4]uint64 // the kernel's sigaction: its handler and no more
		if ignored&(1<<(n-1)) != 0 {
			action[0] = 1 // SIG_IGN
		}
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	}
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, 2, uintptr(unsafe.Pointer(&blocked)), 0, 8, 0, 0)
	fmt.Println(syscall.Exec(args[2], args[2:], become.Environ()))
	return 1
}

// buildShim builds testdata/shim with the linker's flag, in place of the test binary, which has not got it.
func (s *stage) buildShim(t *testing.T) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "shim")
	cmd := exec.Command("go", "build", "-ldflags="+become.EntryFlag, "-o", out, "./testdata/shim")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if log, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	for _, name := range []string{"agentwrap", "shim"} {
		_ = os.Remove(s.link(name))
		if err := os.Symlink(out, s.link(name)); err != nil {
			t.Fatal(err)
		}
	}
}

// ends runs argv on a terminal, from the launcher with that state, and returns what it wrote.
func (s *stage) ends(t *testing.T, prepare func(*exec.Cmd), ignored, blocked uint64, argv ...string) string {
	t.Helper()
	c := s.on(prepare, "", append([]string{"launcher", fmt.Sprintf("%x", ignored), fmt.Sprintf("%x", blocked)}, argv...)...)
	if status := c.exit(); status != 0 {
		t.Errorf("%v: status %v: %q", argv, status, c.output())
	}
	return string(c.output())
}

func TestFidelity24ProcessState(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		s.buildShim(t)
		// What differs by nature: descriptors of /proc itself, pids, memory.
		facts := regexp.MustCompile(`(?m)^(Sig(Blk|Ign|Cgt)|Umask|Max |Groups|Cap|NoNewPrivs|Seccomp|Cpus_allowed_list).*$`)
		cat := []string{"/bin/cat", "/proc/self/status", "/proc/self/limits"}
		sets := [][2]uint64{{0, 0}, {1<<12 | 1<<14 | 1<<0 | 1<<2, 1<<9 | 1<<16}, {^uint64(0), 1 << 63}, {1 << 20, 1<<20 | 1<<21}}
		for _, set := range sets {
			native := strings.Join(facts.FindAllString(s.ends(t, nil, set[0], set[1], cat...), -1), "\n")
			hosted := strings.Join(facts.FindAllString(s.ends(t, nil, set[0], set[1], append([]string{s.link("shim"), s.root, s.birth()}, cat...)...), -1), "\n")
			if native != hosted || !strings.Contains(native, "0027") || !strings.Contains(native, "321 ") {
				t.Errorf("ignored %x, blocked %x\nnative:\n%s\nhosted:\n%s", set[0], set[1], native, hosted)
			}
		}
		nice := []string{"/bin/sh", "-c", "PATH=/usr/bin:/bin; nice; pwd; echo $0 \"$@\"; printf %s \"$3\" | od -c", "a b", "", "-v", "\xff\nx"}
		if native, hosted := s.ends(t, nil, 0, 0, nice...), s.ends(t, nil, 0, 0, append([]string{s.link("shim"), s.root, s.birth()}, nice...)...); native != hosted || !strings.HasPrefix(native, "3\r\n") {
			t.Errorf("native %q\nhosted %q", native, hosted)
		}
	})
}

func TestFidelity24Environment(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		s.buildShim(t)
		var random [64]byte
		_, _ = rand.Read(random[:])
		env := []string{"PATH=" + s.path, "TERM=tmux-256color", "TMUX=/tmp/mine,1,0", "COLORTERM=truecolor", "LINES=a\nb\n", "ODD=\xff\xfe\x01", "EMPTY="}
		for i := range 6 {
			env = append(env, fmt.Sprintf("BIG%d=%s", i, strings.Repeat(fmt.Sprintf("%x", random), 800)))
		}
		prepare := func(cmd *exec.Cmd) { cmd.Env = env }
		cat := []string{"/bin/cat", "/proc/self/environ"}
		native := s.ends(t, prepare, 0, 0, cat...)
		hosted := s.ends(t, prepare, 0, 0, append([]string{s.link("shim"), s.root, s.birth()}, cat...)...)
		if native != hosted || len(native) < 600_000 {
			t.Errorf("native %d bytes, hosted %d", len(native), len(hosted))
		}
	})
}

func TestFidelity24Descriptors(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		log, err := os.Create(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		gone := t.TempDir()
		prepare := func(cmd *exec.Cmd) {
			cmd.Stderr, cmd.Dir = log, gone
			cmd.ExtraFiles = []*os.File{nil, nil, log}
		}
		script := `PATH=/usr/bin:/bin; echo to three >&5; echo to two >&2; test -t 0 && test -t 1 && ! test -t 2 && echo terminals; ls /proc/self/fd | tr '\n' ' '`
		want := s.ends(t, prepare, 0, 0, "/bin/sh", "-c", script)
		got := s.ends(t, prepare, 0, 0, s.link("shim"), s.root, s.birth(), "/bin/sh", "/bin/sh", "-c", script)
		if got != want || !strings.Contains(want, "terminals") {
			t.Errorf("native %q\nhosted %q", want, got)
		}
		if written, _ := os.ReadFile(log.Name()); string(written) != strings.Repeat("to three\nto two\n", 2) {
			t.Errorf("the log holds %q", written)
		}
	})
}

func TestFidelity23Terminals(t *testing.T) {
	for _, name := range []string{"", "dumb", "no-such-terminal"} {
		t.Run("TERM="+name, func(t *testing.T) {
			eachHost(t, func(t *testing.T, s *stage) {
				prepare := func(cmd *exec.Cmd) {
					cmd.Env = []string{"PATH=" + s.path}
					if name != "" {
						cmd.Env = append(cmd.Env, "TERM="+name)
					}
				}
				native := s.on(prepare, "", "cli", "exit", "3")
				hosted := s.on(prepare, "", "shim", s.root, s.birth(), s.self, "cli", "exit", "3")
				if native.exit() != hosted.exit() || string(native.output()) != string(hosted.output()) {
					t.Errorf("native %q, hosted %q", native.output(), hosted.output())
				}
			})
		})
	}
}
