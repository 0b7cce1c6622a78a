package host

import (
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/wire"
)

// client is one connection to the holder.
type client struct {
	h       *holder
	fd      int
	frames  wire.Reader
	role    wire.Role // 0 before its greeting
	closed  bool
	outbox  outbox
	size    Size
	shows   bool      // a terminal that shows the session
	joins   bool      // it asked to, and is not drawn yet
	behind  bool      // it missed output and must be drawn anew
	raw     bool      // it gets the CLI's bytes as they are; others get them without queries
	blocked bool      // it was asked to send no input
	since   time.Time // when it was first to be drawn and could not be
}

const (
	// fullOutbox is how many bytes may wait for the newest terminal before the CLI waits for it.
	fullOutbox = 64 << 10
	// lostOutbox is how many may wait for another terminal before it misses output.
	lostOutbox = 4 << 20
)

func newClient(h *holder, fd int) *client {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 32<<10)
	return &client{h: h, fd: fd}
}

func (c *client) descriptor() int {
	if c.closed {
		return -1
	}
	return c.fd
}

func (c *client) interest() (events int16) {
	if !c.h.input.overflows() {
		events |= unix.POLLIN
	}
	if c.outbox.size > 0 {
		events |= unix.POLLOUT
	}
	return events
}

func (c *client) ready(events int16) {
	if events&unix.POLLOUT != 0 {
		c.flush()
	}
	if events&^unix.POLLOUT != 0 && !c.closed {
		c.read()
	}
}

// read takes what came and acts on it.
func (c *client) read() {
	switch err := c.frames.Fill(c.fd); err {
	case nil:
		c.act()
	case unix.EAGAIN:
	default: // gone
		c.close()
	}
}

// act handles the frames that are there.
func (c *client) act() {
	for !c.closed {
		t, payload, ok, err := c.frames.Next()
		if err != nil {
			c.close()
		}
		if !ok || err != nil {
			return
		}
		c.handle(t, payload)
	}
}

func (c *client) handle(t wire.Type, payload []byte) {
	if c.role == 0 && t != wire.Hello {
		c.close() // it must say first who it is
		return
	}
	switch t {
	case wire.Hello:
		c.greeted(payload)
	case wire.Attach:
		c.size, c.joins = wire.ParseSize(payload), true
	case wire.Resize:
		c.size = wire.ParseSize(payload)
		if c == c.h.newest {
			c.h.resize(c.size)
		}
	case wire.Input:
		if c.shows {
			c.h.typeIn(payload)
		}
	case wire.Continue:
		if state, err := wire.ParseState(payload); err == nil {
			c.h.resume(state)
		}
	case wire.Stopping:
		if c.h.cli.stopped {
			c.send(wire.Stay, nil)
		} else {
			c.send(wire.Resumed, nil)
		}
	default:
		c.answer(t, payload)
	}
}

// greeted proves that the client and this holder understand each other.
func (c *client) greeted(payload []byte) {
	greeting, err := wire.ParseGreeting(payload)
	c.role = greeting.Role
	c.send(wire.Hello, wire.Greet(wire.Holder))
	if err != nil || c.role != wire.Terminal && c.role != wire.Control {
		c.send(wire.Refused, []byte("this holder cannot speak with it"))
		c.close()
	}
}

// send queues a frame and writes what the socket takes.
func (c *client) send(t wire.Type, payload []byte) {
	if !c.closed {
		c.sendFrame(wire.Append(nil, t, payload))
	}
}

// sendFrame is send for a frame that is made already. It keeps nothing of it.
func (c *client) sendFrame(frame []byte) {
	if c.closed {
		return
	}
	if c.outbox.size > 0 {
		c.outbox.add(frame)
		return
	}
	n, err := writeSocket(c.fd, frame)
	switch {
	case err == unix.EAGAIN || err == nil && n < len(frame):
		c.outbox.addRest(frame, max(n, 0))
	case err != nil:
		c.close()
	}
}

// flush writes what waits, as far as the socket takes it.
func (c *client) flush() {
	for c.outbox.size > 0 {
		n, err := writeSocket(c.fd, c.outbox.first())
		if err == unix.EAGAIN {
			return
		}
		if err != nil {
			c.close()
			return
		}
		c.outbox.wrote(n)
	}
}

// output hands a terminal the next of the CLI's output: raw, or stripped of its queries. One that is not the
// newest and does not keep up misses some, and is drawn anew when it has caught up.
func (c *client) output(frame, stripped []byte) {
	switch {
	case !c.shows || c.behind:
	case c.raw:
		c.sendFrame(frame)
	case len(stripped) > 0:
		c.send(wire.Output, stripped)
	}
	if c != c.h.newest && c.outbox.size > lostOutbox {
		c.outbox.drop()
		c.behind = true
	}
}

// close ends the connection; the loop takes the client out of the list.
func (c *client) close() {
	if !c.closed {
		c.closed = true
		unix.Close(c.fd)
	}
}

func writeSocket(fd int, b []byte) (int, error) {
	for {
		n, err := unix.SendmsgN(fd, b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return n, err
		}
	}
}
