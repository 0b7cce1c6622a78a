package host

import (
	"golang.org/x/sys/unix"

	"agentwrap/internal/host/wire"
)

// input is what waits to be read by the CLI: the kernel takes some 64 KB for it.
type input struct {
	queue  []byte
	paused bool // the terminals were asked to send no more
}

const (
	pauseInput   = 64 << 10 // bytes that wait before the terminals are asked to pause
	proceedInput = 16 << 10
	mostInput    = 8 << 20 // bytes that wait before nothing more is read from any client
)

func (i *input) waiting() bool   { return len(i.queue) > 0 }
func (i *input) overflows() bool { return len(i.queue) > mostInput }

// typeIn gives the CLI bytes from a keyboard.
func (h *holder) typeIn(b []byte) {
	if h.input.waiting() {
		h.input.queue = append(h.input.queue, b...)
		return
	}
	n, err := unix.Write(h.master, b)
	if err != nil && err != unix.EAGAIN && err != unix.EINTR {
		return // the CLI's terminal is closed, and the end is under way
	}
	h.input.queue = append(h.input.queue, b[max(n, 0):]...)
}

func (h *holder) writeInput() {
	n, err := unix.Write(h.master, h.input.queue)
	if err != nil && err != unix.EAGAIN && err != unix.EINTR {
		n = len(h.input.queue)
	}
	h.input.queue = h.input.queue[max(n, 0):]
	if !h.input.waiting() {
		h.input.queue = nil
	}
}

// pauseInput asks the terminals to send no more, or to go on: their other frames must not wait behind input
// that the CLI does not read.
func (h *holder) pauseInput() {
	in := &h.input
	switch {
	case !in.paused && len(in.queue) > pauseInput:
		in.paused = true
	case in.paused && len(in.queue) < proceedInput:
		in.paused = false
	}
	for _, c := range h.clients {
		if !c.shows || c.blocked == in.paused {
			continue
		}
		c.blocked = in.paused
		if in.paused {
			c.send(wire.Pause, nil)
		} else {
			c.send(wire.Proceed, nil)
		}
	}
}
