package host

import (
	"bytes"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/ctlseq"
	"agentwrap/internal/host/wire"
)

const (
	// fullRead is a read from the terminal that has probably left something: one page of the kernel's buffer.
	fullRead = 2048
	// readsAtOnce bounds how long a CLI that writes without end keeps the loop from all else.
	readsAtOnce = 16
)

// held tells whether the CLI's output is left where it is: a client that slow makes the CLI slow, as a slow
// terminal does natively, and a terminal that is being drawn must miss nothing.
func (h *holder) held() bool {
	return h.drawing != nil || h.mirror.behind() || h.newest != nil && h.newest.outbox.size > fullOutbox
}

// readOutput passes on what the CLI wrote.
func (h *holder) readOutput() {
	out := &h.output
	if out.buf == nil {
		out.buf = make([]byte, wire.HeadBytes+wire.OutputBytes)
	}
	for range readsAtOnce {
		n, err := unix.Read(h.master, out.buf[wire.HeadBytes:])
		if n <= 0 {
			if err != unix.EAGAIN && err != unix.EINTR {
				h.hungUp()
			}
			return
		}
		out.mark.heard = time.Now()
		h.deliver(out.buf[:wire.HeadBytes+n])
		if out.begun != nil {
			close(out.begun)
			out.begun = nil
		}
		if n < fullRead || h.held() || h.over {
			return
		}
	}
}

// deliver passes on one read of output, for whose frame there is room in front, without the marks in it, and
// does what waited for each mark in its place.
func (h *holder) deliver(framed []byte) {
	chunk := framed[wire.HeadBytes:]
	if !h.output.mark.awaited() {
		wire.PutHead(framed, wire.Output, len(chunk))
		h.show(framed)
		return
	}
	for {
		before, mark, after := h.output.mark.cut(chunk)
		if len(before) > 0 {
			h.show(wire.Append(nil, wire.Output, before))
		}
		if mark == nil {
			return
		}
		mark.do()
		chunk = after
	}
}

// show gives a frame of output to every terminal, the mirror and the ring.
func (h *holder) show(frame []byte) {
	out := &h.output
	purpose := ctlseq.Answer
	if h.newest != nil {
		purpose = ctlseq.Watch
	}
	out.foreign = 0
	stripped := h.strip(frame[wire.HeadBytes:], purpose)
	for _, c := range h.clients {
		c.output(frame, stripped)
	}
	h.mirror.write(stripped, out.foreign)
	out.ring.add(stripped)
	if out.filter.Modes.Changed() {
		h.noteReset()
	}
}

// strip runs the filter. A fault in it must not end the session: from then on everything goes as it came.
func (h *holder) strip(chunk []byte, purpose ctlseq.Purpose) (stripped []byte) {
	out := &h.output
	if out.unparsed {
		return chunk
	}
	defer func() {
		if recover() != nil {
			out.unparsed, out.filter = true, ctlseq.Filter{}
			stripped = chunk
		}
	}()
	out.stripped = out.filter.Feed(out.stripped[:0], chunk, purpose)
	return out.stripped
}

// asked follows the queries that no terminal answers. Where there is no tmux either, the holder does.
func (h *holder) asked(q ctlseq.Query) {
	switch {
	case h.newest != nil:
	case h.mirror != nil:
		if string(q) == barrierQuery {
			h.output.foreign++
		}
	default:
		h.typeIn(q.Answer(int(h.size.Rows), int(h.size.Columns), int(h.size.XPixels), int(h.size.YPixels)))
	}
}

// resetPause is how long changes of modes are gathered before the terminals are told what would undo them:
// it is of use only to a terminal whose holder dies.
const resetPause = 30 * time.Millisecond

func (h *holder) noteReset() {
	if h.output.resetDue {
		return
	}
	h.output.resetDue = true
	h.mail.after(resetPause, func() {
		h.output.resetDue = false
		h.sendReset()
	})
}

func (h *holder) sendReset() {
	reset := h.output.filter.Modes.Reset()
	if bytes.Equal(reset, h.output.reset) {
		return
	}
	h.output.reset = reset
	for _, c := range h.clients {
		if c.shows {
			c.send(wire.Reset, reset)
		}
	}
}
