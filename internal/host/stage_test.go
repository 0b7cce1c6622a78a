package host

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
	"agentwrap/internal/tmuxhost"
)

// patience bounds every wait of a test for an event.
const patience = 2 * time.Minute

// stage is a ledger of its own with agentwrap beside it.
type stage struct {
	t     *testing.T
	root  string
	store *ledger.Store
	self  string // the test binary
	path  string // PATH of what is hosted: it names the tmux, or none
	tmux  bool
}

// eachHost runs a test with tmux, without it, and with the tmux that AGENTWRAP_TEST_TMUX names.
func eachHost(t *testing.T, test func(t *testing.T, s *stage)) {
	t.Helper()
	programs := map[string]string{"alone": "", "tmux": "tmux"}
	if other := os.Getenv("AGENTWRAP_TEST_TMUX"); other != "" {
		programs["other tmux"] = other
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) { test(t, newStage(t, program)) })
	}
}

func newStage(t *testing.T, tmux string) *stage {
	t.Helper()
	root, err := os.MkdirTemp("", "host") // short: it becomes part of a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	return newStageAt(t, root, tmux)
}

func newStageAt(t *testing.T, root, tmux string) *stage {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"agentwrap", "shim", "cli", "attach"} {
		if err := os.Symlink(self, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := &stage{t: t, root: root, store: ledger.Open(root), self: self, tmux: tmux != ""}
	t.Cleanup(s.awaitEmpty)
	s.path = filepath.Join(root, "bin")
	if err := os.Mkdir(s.path, 0o700); err != nil {
		t.Fatal(err)
	}
	if s.tmux {
		program, err := exec.LookPath(tmux)
		if err != nil {
			missing(t, err)
		}
		if err := os.Symlink(program, filepath.Join(s.path, "tmux")); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// awaitEmpty proves that every process of this stage has ended by itself: holders and tmux servers name a path in
// it.
func (s *stage) awaitEmpty() {
	eventually(s.t, "the end of every holder and tmux server in "+s.root, func() bool { return len(s.processes()) == 0 })
}

func (s *stage) processes() (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(s.root+"/")) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// missing ends a test that needs what is not installed: in CI that is a failure.
func missing(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// birth writes the entry that launch writes before it hosts.
func (s *stage) birth() string {
	s.t.Helper()
	e := &ledger.Entry{Runtime: "claude", EnrolledBy: ledger.EnrolledByShim, StartedAt: ledger.At(time.Now())}
	e.LauncherPID = ledger.Ptr(os.Getpid())
	if err := s.store.Create(e, statefile.Soon); err != nil {
		s.t.Fatal(err)
	}
	return e.LedgerID
}

func (s *stage) entry(id string) *ledger.Entry {
	s.t.Helper()
	e, err := s.store.Read(id)
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

// ended is the entry of a session whose CLI has ended, once the holder has told so.
func (s *stage) ended(id string) (e *ledger.Entry) {
	s.t.Helper()
	eventually(s.t, "the exit status in the entry", func() bool {
		e = s.entry(id)
		return e.ExitStatus != nil
	})
	return e
}

func (s *stage) socket(id string) string { return s.store.SocketPath(id) + holderSuffix }

func (s *stage) server(id string) tmuxhost.Server {
	return tmuxhost.Server{Program: filepath.Join(s.path, "tmux"), Socket: s.store.SocketPath(id)}
}

// screen is a program on a terminal whose other side is the test.
type screen struct {
	t    *testing.T
	cmd  *exec.Cmd
	term *os.File
	id   string

	mu      sync.Mutex
	changed *sync.Cond
	seen    []byte
	closed  bool
	read    int // how much of it was expected already
	stalled sync.Mutex
	parked  bool // it has stopped reading
	done    chan struct{}
}

// native runs a scenario of the test's CLI directly, hosted through the shim.
func (s *stage) native(args ...string) *screen {
	return s.on(nil, "", append([]string{"cli"}, args...)...)
}

func (s *stage) hosted(args ...string) *screen {
	id := s.birth()
	argv := append([]string{"shim", s.root, id, s.self, "cli"}, args...)
	return s.on(nil, id, argv...)
}

func (s *stage) attach(id string) *screen { return s.on(nil, id, "attach", s.socket(id), id) }

// on starts the test binary as argv[0] on a terminal of 30 by 90; prepare may change how.
func (s *stage) on(prepare func(*exec.Cmd), id string, argv ...string) *screen {
	s.t.Helper()
	c := s.onProgram(s.self, prepare, argv...)
	c.id = id
	return c
}

func (s *stage) onProgram(program string, prepare func(*exec.Cmd), argv ...string) *screen {
	s.t.Helper()
	cmd := exec.Command(program)
	cmd.Args = argv
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "PATH="+s.path, "XDG_RUNTIME_DIR="+s.root)
	if prepare != nil {
		prepare(cmd)
	}
	term, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 90})
	if err != nil {
		s.t.Fatal(err)
	}
	c := &screen{t: s.t, cmd: cmd, term: term, done: make(chan struct{})}
	c.changed = sync.NewCond(&c.mu)
	go c.watch()
	s.t.Cleanup(func() { s.end(c) })
	return c
}

// end ends what a test left: the program on the terminal and the session behind it.
func (s *stage) end(c *screen) {
	s.endSession(c.id)
	_ = c.cmd.Process.Kill()
	<-c.done
	c.term.Close()
}

// endSession kills the CLI of a session, if it lives, and waits for its holder's end.
func (s *stage) endSession(id string) {
	status, err := Ask(s.socket(id))
	if id == "" || err != nil {
		return
	}
	holder, err := unix.PidfdOpen(status.HolderPID, 0)
	if err != nil {
		return
	}
	defer unix.Close(holder)
	_ = Signal(s.socket(id), unix.SIGKILL)
	await(holder, unix.POLLIN)
}

// stall has the terminal take nothing until resume is called.
func (c *screen) stall() (resume func()) {
	c.stalled.Lock()
	return c.stalled.Unlock
}

func (c *screen) awaitResume() {
	if !c.stalled.TryLock() {
		c.mu.Lock()
		c.parked = true
		c.changed.Broadcast()
		c.mu.Unlock()
		c.stalled.Lock()
	}
	defer c.stalled.Unlock()
}

// awaitParked waits until a terminal that is stalled reads no more: what it was reading has come.
func (c *screen) awaitParked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.parked {
		c.changed.Wait()
	}
}

func (c *screen) watch() {
	buf := make([]byte, 64<<10)
	for {
		c.awaitResume()
		n, err := c.term.Read(buf)
		c.mu.Lock()
		c.seen = append(c.seen, buf[:n]...)
		c.closed = err != nil
		c.changed.Broadcast()
		c.mu.Unlock()
		if err != nil {
			break
		}
	}
	_ = c.cmd.Wait()
	close(c.done)
}

// expect waits until the program has written text, behind what was expected before.
func (c *screen) expect(text string) {
	c.t.Helper()
	timer := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.closed = true
		c.changed.Broadcast()
	})
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if i := bytes.Index(c.seen[c.read:], []byte(text)); i >= 0 {
			c.read += i + len(text)
			return
		}
		if c.closed {
			c.t.Fatalf("no %q in %q (read before: %q)", text, tail(c.seen[c.read:]), tail(c.seen[:c.read]))
		}
		c.changed.Wait()
	}
}

func tail(b []byte) []byte { return b[max(0, len(b)-600):] }

func (c *screen) typed(text string) {
	c.t.Helper()
	if _, err := c.term.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// exit waits for the program's end and returns its status.
func (c *screen) exit() syscall.WaitStatus {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(patience):
		c.t.Fatalf("no end; on screen: %q", tail(c.output()))
	}
	return c.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

func (c *screen) output() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.seen)
}

func (c *screen) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seen)
}

// eventually polls a condition that no event tells of.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// gone tells whether a holder has left nothing.
func (s *stage) gone(id string) bool {
	_, err := Ask(s.socket(id))
	return errors.Is(err, ErrGone)
}
