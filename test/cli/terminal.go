package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"github.com/charmbracelet/x/vt"
)

// A Terminal is a terminal with a command in it: a process of its own that owns the pty, which can be killed as a real
// one can, and the screen as its user sees it. Its methods are safe for concurrent use.
type Terminal struct {
	t   testing.TB
	cmd *exec.Cmd

	ordering sync.Mutex
	orders   *json.Encoder

	mu      sync.Mutex
	screen  *vt.Emulator
	osc     oscFilter
	raw     []byte
	changed chan struct{}

	gone   chan struct{}
	status Status
}

// Status is how the command in a terminal ended.
type Status struct {
	// Known is false if the terminal died first.
	Known bool
	// Code is the exit code, -1 for a death by signal.
	Code int
	// Signal is the number of the signal that ended it, 0 if none did.
	Signal int
}

// An order is what a test tells the terminal's process.
type order struct {
	Write      []byte `json:",omitempty"`
	Cols, Rows int    `json:",omitempty"`
	HangUp     bool   `json:",omitempty"`
}

// Open starts a command in a terminal of 100 columns and 30 rows. When the test ends the terminal is killed.
func (w *World) Open(t testing.TB, name string, args ...string) *Terminal {
	t.Helper()
	const cols, rows = 100, 30
	argv := append([]string{w.look(t, name), name}, args...)
	term := &Terminal{t: t, screen: vt.NewEmulator(cols, rows), changed: make(chan struct{}), gone: make(chan struct{})}
	term.cmd = exec.Command("/proc/self/exe", argv...)
	term.cmd.Dir, term.cmd.Env = w.Work, append(slices.Clone(w.Env), fmt.Sprintf("%s=%dx%d", terminalVar, cols, rows), raceVar)
	stdin, err := term.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := term.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	statusReader, statusWriter, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	term.cmd.ExtraFiles = []*os.File{statusWriter}
	term.cmd.Stderr = os.Stderr
	term.orders = json.NewEncoder(stdin)
	if err := term.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	statusWriter.Close()
	go term.display(stdout, statusReader)
	go term.reply()
	t.Cleanup(term.Kill)
	return term
}

// display shows what the terminal's process passes on, until that ends.
func (term *Terminal) display(stdout, status io.ReadCloser) {
	buf := make([]byte, 64<<10)
	for {
		n, err := stdout.Read(buf)
		if n > 0 {
			term.mu.Lock()
			term.raw = append(term.raw, buf[:n]...)
			term.osc.filter(buf[:n])
			term.screen.Write(buf[:n])
			term.notify()
			term.mu.Unlock()
		}
		if err != nil {
			break
		}
	}
	term.status.Known = json.NewDecoder(status).Decode(&term.status) == nil
	status.Close()
	term.cmd.Wait()
	term.screen.InputPipe().(io.Closer).Close() // ends reply; Close would race with its Read
	term.mu.Lock()
	close(term.gone)
	term.notify()
	term.mu.Unlock()
}

func (term *Terminal) notify() {
	close(term.changed)
	term.changed = make(chan struct{})
}

// reply sends what the terminal itself answers to queries.
func (term *Terminal) reply() {
	buf := make([]byte, 4096)
	for {
		n, err := term.screen.Read(buf)
		if err != nil {
			return
		}
		term.order(order{Write: buf[:n]})
	}
}
