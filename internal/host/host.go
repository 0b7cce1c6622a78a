// Package host gives an interactive CLI a terminal of its own that outlives the user's: a holder process
// keeps the CLI's pty and relays it, byte for byte both ways, to the terminals that are attached. It is for
// the shim, which launches hosted, and for the companion, which attaches, detaches, asks and peeks.
//
//	terminal ⇄ shim ⇄ unix socket ⇄ holder ⇄ its pty ⇄ the CLI
//	                                  └→ a tmux pane, which gets a copy
//
// The design, what was measured and its limits are in docs/hosting.md. The halves are here: run.go and
// relay.go on the terminal's side, holder.go and what it names on the other.
package host

import (
	"errors"
	"syscall"

	"agentwrap/internal/become"
	"agentwrap/internal/host/wire"
	"agentwrap/internal/ledger"
)

// HoldVerb is the word by which a program gets to HolderMain when it is called as agentwrap.
const HoldVerb = "hold"

// ErrNotStarted is wrapped by the error for a CLI that was not started: nothing of the attempt is left, and
// the caller may start it in place.
var ErrNotStarted = errors.New("the session was not hosted")

// Size is a terminal's size.
type Size = wire.Size

// Launch is a CLI to start hosted.
type Launch struct {
	Store    *ledger.Store
	LedgerID string      // whose entry, written already, gets the CLI's process and the holder's socket
	Spec     become.Spec // Dir "" hands on this process's working directory itself
	Self     string      // path of agentwrap, whose main calls HolderMain and become.ChildMain
	Detached *Size       // start without a terminal, at this size; nil relays this one until the CLI ends
}

// Outcome is how the part of a session ended that this process saw.
type Outcome struct {
	Detached bool           // the CLI goes on without this terminal
	Lost     bool           // the holder died, and the CLI with it or not
	Code     int            // the CLI's exit code; where Detached 0, where Lost 129
	Signal   syscall.Signal // that ended the CLI, or 0: the caller dies by it (become.DieBy)
}
