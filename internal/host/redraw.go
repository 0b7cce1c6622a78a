package host

import (
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/wire"
)

// drawWait is how long a terminal that attaches waits for the CLI to finish a sequence it is writing.
const drawWait = 300 * time.Millisecond

// serveRedraws draws the session on a terminal that attached, or that missed output and has caught up. The
// CLI's output is held meanwhile, so that the terminal gets what is on the screen and then every byte that
// comes after, with no gap and no overlap.
func (h *holder) serveRedraws() {
	if h.drawing != nil || h.finished {
		return
	}
	for _, c := range h.clients {
		if c.closed || !c.joins && !(c.behind && c.outbox.size == 0) {
			continue
		}
		if !h.output.filter.Whole() && !c.waited(drawWait) {
			continue
		}
		h.drawing = c
		if c.joins {
			h.resize(c.size)
		}
		h.picture()
		return
	}
}

// waited tells whether the client wants to be drawn for longer than d; it is asked again by then.
func (c *client) waited(d time.Duration) bool {
	if c.since.IsZero() {
		c.since = time.Now()
		c.h.mail.after(d, func() {})
	}
	return time.Since(c.since) >= d
}

// drawn gives the terminal that is being drawn its picture, and the CLI's output from there on.
func (h *holder) drawn(picture []byte) {
	c := h.drawing
	h.drawing = nil
	if c == nil {
		return
	}
	joined := c.joins
	c.joins, c.behind, c.since = false, false, time.Time{}
	if c.closed {
		return
	}
	c.send(wire.Reset, h.output.filter.Modes.Reset())
	c.send(wire.Output, scrollAway(h.size.Rows))
	for len(picture) > 0 {
		n := min(len(picture), wire.OutputBytes)
		c.send(wire.Output, picture[:n])
		picture = picture[n:]
	}
	c.shows = true
	if joined {
		h.makeNewest(c)
	} else {
		c.raw = false
	}
}

// makeNewest lets a terminal that was just drawn answer the CLI's queries.
func (h *holder) makeNewest(c *client) {
	if h.newest == nil && h.output.filter.Modes.Focus() {
		h.typeIn([]byte(focusIn))
	}
	h.newest = c
	c.raw = true
	if pending := h.output.filter.Pending(); len(pending) > 0 {
		c.send(wire.Output, pending)
	}
}

// What a terminal sends when it gets and loses the focus.
const focusIn, focusOut = "\x1b[I", "\x1b[O"

// changeStreams gives each terminal its own stream: the newest the CLI's bytes, others those without queries.
// A terminal changes over between two sequences.
func (h *holder) changeStreams() {
	if !h.output.filter.Whole() {
		return
	}
	pending := h.output.filter.Pending()
	for _, c := range h.clients {
		if !c.shows || c.raw == (c == h.newest) {
			continue
		}
		c.raw = !c.raw
		switch {
		case len(pending) == 0:
		case c.raw:
			c.send(wire.Output, pending)
		case pending[0] == 0x1b: // it has begun to get a sequence that it will get as a whole
			c.send(wire.Output, []byte{0x18})
		}
	}
}

// dropClosed forgets the clients that are gone.
func (h *holder) dropClosed() {
	kept := h.clients[:0]
	for _, c := range h.clients {
		if !c.closed {
			kept = append(kept, c)
		}
	}
	clear(h.clients[len(kept):])
	h.clients = kept
	if h.newest != nil && h.newest.closed {
		h.newestLeft()
	}
	h.endWhenTold()
}

// newestLeft hands over to the terminal that attached last of those that are left; without any, the CLI is
// told what a terminal that loses the focus tells, and goes on if it was stopped.
func (h *holder) newestLeft() {
	h.newest = nil
	for _, c := range h.clients {
		if c.shows {
			h.newest = c
		}
	}
	switch {
	case h.newest != nil:
		h.resize(h.newest.size)
	case h.cli.ended:
	default:
		if h.output.filter.Modes.Focus() {
			h.typeIn([]byte(focusOut))
		}
		if h.cli.stopped {
			h.goOnAlone(h.cli.stoppedBy)
		}
	}
}

// endWhenTold ends the holder once every terminal has been told of the end.
func (h *holder) endWhenTold() {
	if !h.finished {
		return
	}
	for _, c := range h.clients {
		if c.outbox.size > 0 {
			return
		}
	}
	h.over = true
}

// welcome joins the launcher's terminal, which has seen all there is: nothing.
func (h *holder) welcome(launcher *client) {
	h.clients = append(h.clients, launcher)
	launcher.role = wire.Terminal
	_ = unix.SetNonblock(launcher.fd, true)
	launcher.send(wire.Started, nil)
	if h.order.Detached {
		return
	}
	launcher.size, launcher.shows, launcher.raw, h.newest = h.size, true, true, launcher
}
