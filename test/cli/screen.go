package cli

import (
	"bytes"
	"strings"
	"time"
)

// waitLimit bounds each wait for something in a terminal.
const waitLimit = 60 * time.Second

// Keys that have no character of their own.
const (
	Enter  = "\r"
	Escape = "\x1b"
	CtrlC  = "\x03"
	CtrlD  = "\x04"
	CtrlZ  = "\x1a"
	Up     = "\x1b[A"
	Down   = "\x1b[B"
)

// Press sends keys.
func (term *Terminal) Press(keys ...string) {
	for _, k := range keys {
		term.order(order{Write: []byte(k)})
	}
}

// Submit types a line, waits until the screen shows it, and presses Enter. The CLIs take what comes in one read with its
// Enter for a paste.
func (term *Terminal) Submit(line string) {
	term.t.Helper()
	term.Press(line)
	term.WaitText(line)
	term.Press(Enter)
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

// Wait waits until the screen is as wanted, and returns it. It fails the test if that does not come within a minute, or
// the terminal's command ends before.
func (term *Terminal) Wait(what string, wanted func(screen string) bool) string {
	term.t.Helper()
	limit := time.After(waitLimit)
	for {
		term.mu.Lock()
		screen, changed := term.show(), term.changed
		term.mu.Unlock()
		if wanted(screen) {
			return screen
		}
		select {
		case <-changed:
			continue
		case <-term.gone:
			if screen = term.Screen(); wanted(screen) {
				return screen
			}
			term.t.Fatalf("waiting for %s: the terminal's command ended: %+v\n%s", what, term.status, screen)
		case <-limit:
			term.t.Fatalf("no %s within %v:\n%s", what, waitLimit, screen)
		}
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
