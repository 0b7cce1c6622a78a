package host

import (
	"fmt"
	"os"
	"syscall"

	"agentwrap/internal/host/ctlseq"
	"agentwrap/internal/host/wire"
)

// answer serves a request; each is answered in its turn.
func (c *client) answer(t wire.Type, payload []byte) {
	switch t {
	case wire.Ask:
		c.send(wire.Facts, c.h.status().Encode())
	case wire.Dismiss:
		c.h.dismiss()
		c.send(wire.Done, nil)
	case wire.Insert:
		c.h.typeIn(payload)
		c.send(wire.Done, nil)
	case wire.Peek:
		c.peek()
	case wire.Signal:
		c.sendSignal(payload)
	}
}

// sendSignal passes a signal on; a client that is no terminal is told how that went.
func (c *client) sendSignal(payload []byte) {
	var err error
	if len(payload) != 1 || payload[0] == 0 || payload[0] > 64 {
		err = fmt.Errorf("%q is no signal", payload)
	} else {
		err = c.h.signal(syscall.Signal(payload[0]))
	}
	if c.role != wire.Control {
		return
	}
	var told []byte
	if err != nil {
		told = []byte(err.Error())
	}
	c.send(wire.Done, told)
}

// dismiss has every terminal leave.
func (h *holder) dismiss() {
	reset := h.output.filter.Modes.Reset()
	for _, c := range h.clients {
		if c.shows || c.joins {
			c.send(wire.Detached, reset)
		}
	}
}

func (h *holder) status() wire.Status {
	s := wire.Status{
		Version: wire.Version, LedgerID: h.order.LedgerID, HolderPID: os.Getpid(),
		PID: h.cli.child.PID, StartTicks: h.cli.startTicks,
		Size: h.size, Stopped: h.cli.stopped, Mirrored: h.mirror != nil,
	}
	for _, c := range h.clients {
		if c.shows {
			s.Terminals++
		}
	}
	return s
}

// peek answers with what draws the last screenful, the cursor where the CLI has it, as far as the screen is
// mirrored.
func (c *client) peek() {
	h := c.h
	fromRing := func() { c.send(wire.Screen, h.output.ring.screenful(int(h.size.Rows))) }
	if h.mirror == nil {
		fromRing()
		return
	}
	m := h.mirror
	m.barrier(func(done func()) {
		go func() {
			lines, x, y, err := m.server.Screen()
			h.mail.post(func() {
				done()
				if err != nil {
					fromRing()
					return
				}
				c.send(wire.Screen, fmt.Appendf(ctlseq.Lines(nil, lines), "\x1b[%d;%dH", y+1, x+1))
			})
		}()
	}, fromRing)
}
