package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Enter is the key; what a test types besides is its text.
const Enter = "\r"

const ctrlE = "\x05"

// Press sends keys.
func (term *Terminal) Press(keys ...string) {
	for _, k := range keys {
		term.order(order{Write: []byte(k)})
	}
}

// Submit types a line, waits until the screen shows it, and presses Enter.
func (term *Terminal) Submit(line string) {
	term.t.Helper()
	term.Press(line)
	term.WaitText(line)
	term.Press(Enter)
}

// Ask types a line, which must fit into one row, at a real CLI's prompt and presses Enter until the prompt has taken it.
// A CLI takes text with Enter in one read for a paste, Enter soon after a letter (but not after Ctrl-E, which goes to the
// end of the line) for a line break, and some lose the Enter that comes between their drawing and their listening.
func (term *Terminal) Ask(line string) {
	term.t.Helper()
	term.Press(line)
	term.await(wait{what: "the prompt to show " + line, done: func() bool { return strings.Contains(term.row(), line) }})
	term.await(wait{
		what:  "the prompt to take " + line,
		done:  func() bool { return !strings.Contains(term.row(), line) },
		press: func() { term.Press(ctrlE, Enter) },
		again: 300 * time.Millisecond,
		hold:  150 * time.Millisecond, // a prompt that is being drawn anew is no empty prompt
	})
}

// row returns the row that the cursor is in; term.mu is held.
func (term *Terminal) row() string {
	rows := strings.Split(term.screen.String(), "\n")
	return rows[min(term.screen.CursorPosition().Y, len(rows)-1)]
}

// Resize changes the terminal's size.
func (term *Terminal) Resize(cols, rows int) {
	term.mu.Lock()
	term.screen.Resize(cols, rows)
	term.mu.Unlock()
	term.order(order{Cols: cols, Rows: rows})
}

// HangUp ends the terminal as a lost ssh connection does: SIGHUP to its command, then the pty is gone.
func (term *Terminal) HangUp() {
	term.order(order{HangUp: true})
	<-term.gone
}

// Kill ends the terminal's process by SIGKILL, and with it the pty, and waits until it is gone.
func (term *Terminal) Kill() {
	term.cmd.Process.Kill()
	<-term.gone
}

// order is lost if the terminal is gone.
func (term *Terminal) order(o order) {
	term.ordering.Lock()
	defer term.ordering.Unlock()
	term.orders.Encode(o)
}

// CommandPID is the process of the terminal's command.
func (term *Terminal) CommandPID() int {
	term.t.Helper()
	pid := term.cmd.Process.Pid
	var children []byte
	Eventually(term.t, "command in the terminal", func() bool {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		for _, f := range files {
			if data, _ := os.ReadFile(f); len(data) > 0 {
				children = data
			}
		}
		return len(children) > 0
	})
	child, err := strconv.Atoi(string(bytes.TrimSpace(children)))
	if err != nil {
		term.t.Fatalf("the terminal has the children %q", children)
	}
	return child
}

// Screen returns what the terminal shows, row by row.
func (term *Terminal) Screen() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.show()
}

// History returns the lines scrolled off the top, then the screen.
func (term *Terminal) History() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	var b strings.Builder
	back := term.screen.Scrollback()
	for i := range back.Len() {
		b.WriteString(strings.TrimRight(back.Line(i).String(), " ") + "\n")
	}
	return b.String() + term.show()
}

// Raw returns every byte that came from the pty.
func (term *Terminal) Raw() []byte {
	term.mu.Lock()
	defer term.mu.Unlock()
	return bytes.Clone(term.raw)
}

func (term *Terminal) show() string {
	lines := strings.Split(term.screen.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// WaitText waits until the screen holds text, and returns the screen.
func (term *Terminal) WaitText(text string) string {
	term.t.Helper()
	return term.Wait("the text "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

// Wait waits until the screen is as wanted, and returns it. It fails the test if that does not come in time, or
// the terminal's command ends before.
func (term *Terminal) Wait(what string, wanted func(screen string) bool) string {
	term.t.Helper()
	var screen string
	term.await(wait{what: what, done: func() bool { screen = term.show(); return wanted(screen) }})
	return screen
}

// PressToEnd presses a key that ends a CLI if it comes twice within a moment, until it has.
func (term *Terminal) PressToEnd(key string) {
	term.t.Helper()
	term.await(wait{
		what:  "the command to end",
		done:  term.ended,
		press: func() { term.Press(key) },
		again: 300 * time.Millisecond,
	})
}

func (term *Terminal) ended() bool {
	select {
	case <-term.gone:
		return true
	default:
		return false
	}
}

// WaitExit waits until the terminal's command has ended.
func (term *Terminal) WaitExit() Status {
	term.t.Helper()
	select {
	case <-term.gone:
	case <-time.After(waitLimit):
		term.t.Fatalf("the terminal's command did not end within %v:\n%s", waitLimit, term.Screen())
	}
	return term.status
}
