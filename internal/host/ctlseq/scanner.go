// Package ctlseq reads the control sequences in a program's terminal output: where each begins and ends,
// which ones a terminal would answer, and what modes they leave a terminal in. It is for the holder of a
// hosted session, which mirrors that output and must know what a terminal that leaves has to undo.
//
// Boundaries follow the parser of tmux's input.c, which the mirror feeds, and agree with xterm's: controls
// inside ESC and CSI are executed and end nothing, a DCS ends only at ESC \, and the byte 0x9C is no
// terminator, because it occurs inside UTF-8 characters (the title "✳ Claude" has one).
package ctlseq

import "bytes"

// maxSequence is how many bytes of a sequence are kept before it is passed on in pieces. What is longer
// is the payload of a string (clipboard, image), never a mode or a query.
const maxSequence = 4096

// piece says what a scanner has cut off the stream.
type piece uint8

const (
	text     piece = iota // printable characters and controls
	sequence              // one whole control sequence
	opening               // the beginning of a sequence longer than maxSequence
	more                  // a later part of it
	closing               // its last part
)

type state uint8

const (
	ground             state = iota
	escape                   // after ESC
	escapeIntermediate       // after ESC and a byte 0x20 to 0x2F
	csi                      // in the parameters of a control sequence
	dcsHead                  // in the parameters of a device control string
	dcsBody
	dcsEscape  // ESC in a device control string's body
	stringBody // OSC, APC, PM, SOS or tmux's title string
	stringEscape
)

// scanner cuts a stream into text and whole control sequences, whatever the boundaries of its chunks.
type scanner struct {
	state state
	intro byte // the byte after ESC that opened a string
	dcs   dcsPart
	held  []byte // an unfinished sequence or character
	long  bool   // its beginning was passed on already
}

// feed calls emit for every piece of chunk, in order. The bytes are only valid during the call.
func (s *scanner) feed(chunk []byte, emit func(piece, []byte)) {
	for len(chunk) > 0 {
		if s.state == ground {
			chunk = s.feedText(chunk, emit)
			continue
		}
		used, ended := s.feedSequence(chunk)
		s.held = append(s.held, chunk[:used]...)
		chunk = chunk[used:]
		s.pass(ended, emit)
	}
}

// whole tells whether the stream so far ends outside of any sequence that was passed on in part.
func (s *scanner) whole() bool { return !s.long }

// pending is what was fed and not yet passed on.
func (s *scanner) pending() []byte { return s.held }

// feedText passes on the text before the next ESC, or all of it but a character that the next chunk ends.
func (s *scanner) feedText(chunk []byte, emit func(piece, []byte)) (rest []byte) {
	at := bytes.IndexByte(chunk, esc)
	plain := chunk
	if at >= 0 {
		plain = chunk[:at]
	}
	if len(s.held) > 0 {
		plain = append(s.held, plain...)
	}
	whole := len(plain)
	if at < 0 {
		whole -= unfinishedUTF8(plain)
	}
	if whole > 0 {
		emit(text, plain[:whole])
	}
	s.held = append(s.held[:0], plain[whole:]...)
	if at < 0 {
		return nil
	}
	s.state = escape
	s.held = append(s.held, esc)
	return chunk[at+1:]
}

// feedSequence reads on in a sequence: how many bytes belong to it, and whether it ended with them. A
// sequence that an ESC cut short has ended before that ESC.
func (s *scanner) feedSequence(chunk []byte) (used int, ended end) {
	for i, c := range chunk {
		if ended := s.step(c); ended != open {
			return i + 1, ended
		}
		if s.state == dcsBody || s.state == stringBody {
			if skip := s.skipBody(chunk[i+1:]); skip > 0 {
				return i + 1 + skip, open
			}
		}
	}
	return len(chunk), open
}

// skipBody is how many of the next bytes are plain payload of a string: nothing in them can end it.
func (s *scanner) skipBody(next []byte) int {
	for i, c := range next {
		if c < 0x20 {
			return i
		}
	}
	return len(next)
}

// pass hands on what is held: a finished sequence, or the beginning of one that grows too long.
func (s *scanner) pass(ended end, emit func(piece, []byte)) {
	rest := s.held[len(s.held):]
	switch ended {
	case open:
		if len(s.held) <= maxSequence {
			return
		}
		keep := 0
		if s.state == stringEscape || s.state == dcsEscape {
			keep = 1 // its ESC may belong to the next sequence
		}
		rest = s.held[len(s.held)-keep:]
		emit(s.kind(opening, more), s.held[:len(s.held)-keep])
		s.long = true
	case after:
		emit(s.kind(sequence, closing), s.held)
		s.state, s.long = ground, false
	case before:
		cut := len(s.held) - 1
		if s.held[cut] != esc {
			cut-- // ESC and the byte that showed that it was no terminator
		}
		rest = s.held[cut:]
		emit(s.kind(sequence, closing), s.held[:cut])
		s.long = false
		s.state = escape
		s.replay(rest, emit)
		return
	}
	s.held = append(s.held[:0], rest...)
}

// replay begins the sequence that cut another short with the bytes that are already read of it.
func (s *scanner) replay(rest []byte, emit func(piece, []byte)) {
	begun := append([]byte(nil), rest...)
	s.held = append(s.held[:0], begun[0])
	if len(begun) > 1 {
		s.feed(begun[1:], emit)
	}
}

func (s *scanner) kind(first, later piece) piece {
	if s.long {
		return later
	}
	return first
}

// unfinishedUTF8 is how many bytes at the end of plain begin a character without ending it.
func unfinishedUTF8(plain []byte) int {
	for k := 1; k <= 3 && k <= len(plain); k++ {
		switch c := plain[len(plain)-k]; {
		case c < 0x80:
			return 0
		case c >= 0xf0 && k < 4, c >= 0xe0 && c < 0xf0 && k < 3, c >= 0xc0 && c < 0xe0 && k < 2:
			return k
		case c >= 0xc0:
			return 0
		}
	}
	return 0
}
