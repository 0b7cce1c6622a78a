package host

import (
	"bytes"
	"encoding/hex"
	"time"

	"golang.org/x/sys/unix"
)

// marker finds the place in the output behind which something is to happen: a mark that this process writes
// into the CLI's terminal comes out of its other side behind every byte that the CLI wrote before. To see
// the terminal's end instead would not do: a background child of the CLI can keep it open.
type marker struct {
	text    []byte
	written []*mark   // in order
	kept    []byte    // the end of the output, which may begin a mark
	heard   time.Time // when there was output last
}

type mark struct{ then func() }

// markPause is how long the terminal must be silent before a mark that does not come is given up: output
// that was stopped by ^S lets nothing through.
const markPause = 300 * time.Millisecond

// behindOutput does something once all that the CLI has written so far is passed on.
func (h *holder) behindOutput(then func()) {
	m := &h.output.mark
	if m.text == nil {
		m.text = newMark()
	}
	mark := &mark{then: then}
	m.written = append(m.written, mark)
	// In one write, which no other writer's splits, and which may wait for room.
	go func() { _, _ = unix.Write(h.slave, m.text) }()
	h.watchMark(mark)
}

// newMark is a control sequence that no program writes and no terminal knows.
func newMark() []byte {
	var random [8]byte
	_, _ = unix.Getrandom(random[:], 0)
	return []byte("\x1b]7771;" + hex.EncodeToString(random[:]) + "\x07")
}

func (h *holder) watchMark(m *mark) {
	h.mail.after(markPause, func() {
		switch {
		case m.then == nil: // it came
		case h.held() || time.Since(h.output.mark.heard) < markPause:
			h.watchMark(m)
		default:
			m.do()
		}
	})
}

// do does what waited for the mark, once.
func (m *mark) do() {
	if then := m.then; then != nil {
		m.then = nil
		then()
	}
}

// cut is the output before the next mark, that mark, and the output behind it. Without one there is nothing
// behind, and the last bytes may be kept for the next chunk.
func (m *marker) cut(chunk []byte) (before []byte, found *mark, after []byte) {
	if len(m.written) == 0 {
		return chunk, nil, nil
	}
	all := append(m.kept, chunk...)
	m.kept = nil
	if i := bytes.Index(all, m.text); i >= 0 {
		found, m.written = m.written[0], m.written[1:]
		return all[:i], found, all[i+len(m.text):]
	}
	for n := min(len(m.text)-1, len(all)); n > 0; n-- {
		if bytes.HasSuffix(all, m.text[:n]) {
			m.kept = bytes.Clone(all[len(all)-n:])
			return all[:len(all)-n], nil, nil
		}
	}
	return all, nil, nil
}

func (m *marker) awaited() bool { return len(m.written) > 0 }
