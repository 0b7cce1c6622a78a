package ctlseq

import "bytes"

// Filter makes the mirror's stream out of a program's output and follows its modes. The zero value is
// ready. It is not for several goroutines at once.
type Filter struct {
	Modes Modes
	// Asked, where it is set, is called with every query.
	Asked func(Query)

	scanner scanner
	drop    bool // the string that goes by in pieces
}

// Purpose says who reads what Feed returns.
type Purpose uint8

const (
	// Answer keeps the queries: the mirror is the program's only terminal.
	Answer Purpose = iota
	// Watch drops them: a terminal that sees the whole stream answers.
	Watch
	// Replay drops also what must not happen twice: bells, notifications, clipboard.
	Replay
)

// Feed appends to dst what the mirror gets of the next chunk: whole characters and sequences only, the
// unfinished rest coming with a later chunk.
func (f *Filter) Feed(dst, chunk []byte, purpose Purpose) []byte {
	f.scanner.feed(chunk, func(kind piece, raw []byte) {
		switch kind {
		case text:
			f.Modes.text(raw)
			if purpose == Replay && bytes.IndexByte(raw, bel) >= 0 {
				raw = bytes.ReplaceAll(raw, []byte{bel}, nil)
			}
			dst = append(dst, raw...)
		case sequence:
			dst = f.sequence(dst, raw, purpose)
		case opening:
			f.drop = !forMirror(raw, purpose) || bytes.HasPrefix(raw, []byte("\x1b]52;")) || purpose == Replay
			fallthrough
		case more, closing:
			if !f.drop {
				dst = append(dst, raw...)
			}
		}
	})
	return dst
}

// Whole tells whether all that Feed returned ends outside of any sequence, so that one of the holder's
// own may be put behind it.
func (f *Filter) Whole() bool { return f.scanner.whole() }

// Pending is the unfinished rest that Feed keeps back.
func (f *Filter) Pending() []byte { return f.scanner.pending() }

func (f *Filter) sequence(dst, raw []byte, purpose Purpose) []byte {
	normal, controls := normalize(raw)
	f.Modes.sequence(normal)
	query := isQuery(normal)
	if query && f.Asked != nil {
		f.Asked(Query(normal))
	}
	if query && purpose != Answer || !forMirror(normal, purpose) {
		return append(dst, controls...)
	}
	return append(dst, raw...)
}

// forMirror tells whether the mirror may see a sequence that is no query. tmux takes an APC (kitty's
// graphics) for a title and draws none.
func forMirror(seq []byte, purpose Purpose) bool {
	switch {
	case len(seq) < 2:
		return true
	case seq[1] == '_':
		return false
	case seq[1] != ']' || purpose != Replay:
		return true
	}
	number, _, _ := bytes.Cut(seq[2:], []byte(";"))
	switch string(number) {
	case "9", "52", "99", "777", "1337":
		return false
	}
	return true
}
