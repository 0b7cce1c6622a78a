package cli

import (
	"testing"
	"time"
)

// waitLimit bounds each wait for something. On a loaded machine opencode takes minutes to start.
const waitLimit = 3 * time.Minute

// A wait is for a state of a terminal.
type wait struct {
	what string
	// done tells whether the state is there; the terminal's mu is held.
	done func() bool
	// press, if given, presses keys that should bring it about, and does so again as often as they seem to be lost.
	press func()
	again time.Duration
	// hold is how long the state must last.
	hold time.Duration
}

// await looks after each piece of output whether the state is there. It fails the test if that does not come in time or
// the terminal's command ends before.
func (term *Terminal) await(w wait) {
	term.t.Helper()
	limit := time.After(waitLimit)
	var again, held <-chan time.Time
	for sure, ended := w.hold == 0, false; ; {
		term.mu.Lock()
		ok, changed := w.done(), term.changed
		term.mu.Unlock()
		switch {
		case ok && (sure || ended):
			return
		case ended:
			term.t.Fatalf("waiting for %s: the terminal's command ended: %+v\n%s", w.what, term.status, term.Screen())
		case ok && held == nil:
			held = time.After(w.hold)
		case !ok:
			held, sure = nil, w.hold == 0
			if w.press != nil && again == nil {
				w.press()
				again = time.After(w.again)
			}
		}
		select {
		case <-changed:
		case <-again:
			again = nil
		case <-held:
			sure = true
		case <-term.gone:
			ended = true
		case <-limit:
			term.t.Fatalf("no %s within %v:\n%s", w.what, waitLimit, term.Screen())
		}
	}
}

// Eventually waits until a condition holds that no event tells of. It fails the test if that takes too long.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within %v", what, waitLimit)
		}
	}
}
