package ctlseq

import (
	"bytes"
	"fmt"
	"strconv"
)

// Query is a sequence that a terminal answers.
type Query []byte

// Answer is what a terminal that can do little replies, for a program that would wait for ever: its
// attributes, that it is well, its size, and a cursor at home. Other queries have no answer, which is one
// too: programs ask for attributes behind them.
func (q Query) Answer(rows, columns, xPixels, yPixels int) []byte {
	if len(q) == 2 { // DECID
		return []byte("\x1b[?1;2c")
	}
	if len(q) < 3 || q[1] != '[' {
		return nil
	}
	c := parseCSI(q)
	switch n := c.param(0, 0); {
	case c.final == 'c' && c.prefix == 0:
		return []byte("\x1b[?1;2c")
	case c.final == 'c' && c.prefix == '>':
		return []byte("\x1b[>0;0;0c")
	case c.final == 'n' && c.prefix == 0 && n == 5:
		return []byte("\x1b[0n")
	case c.final == 'n' && c.prefix == 0 && n == 6:
		return []byte("\x1b[1;1R")
	case c.final == 'n' && n == 6:
		return []byte("\x1b[?1;1R")
	case c.final == 't' && n == 14:
		return fmt.Appendf(nil, "\x1b[4;%d;%dt", yPixels, xPixels)
	case c.final == 't' && n == 18:
		return fmt.Appendf(nil, "\x1b[8;%d;%dt", rows, columns)
	}
	return nil
}

// isQuery tells whether a terminal answers the sequence. seq is normal: see normalize.
func isQuery(seq []byte) bool {
	if len(seq) < 2 {
		return false
	}
	switch seq[1] {
	case '[':
		return parseCSI(seq).isQuery()
	case ']':
		return isOSCQuery(stringPayload(seq))
	case 'P': // DECRQSS, XTGETTCAP
		return bytes.HasPrefix(seq[2:], []byte("$q")) || bytes.HasPrefix(seq[2:], []byte("+q"))
	case 'Z': // DECID
		return len(seq) == 2
	}
	return false
}

func (c csiSequence) isQuery() bool {
	switch c.final {
	case 'c': // DA1, DA2, DA3; with ? it is a reply
		return c.prefix != '?' && c.intermediate == 0
	case 'n': // DSR; with > it sets a key modifier option
		return (c.prefix == 0 || c.prefix == '?') && c.intermediate == 0
	case 'p': // DECRQM
		return c.intermediate == '$'
	case 'q': // XTVERSION
		return c.prefix == '>'
	case 'u': // kitty's keyboard flags
		return c.prefix == '?'
	case 'm': // XTQMODKEYS
		return c.prefix == '?'
	case 'S': // XTSMGRAPHICS; without ? it scrolls
		return c.prefix == '?'
	case 'x': // DECREQTPARM
		return c.prefix == 0 && c.intermediate == 0
	case 'w': // DECRQPSR
		return c.intermediate == '$'
	case 't': // XTWINOPS: its reports
		n := c.param(0, 0)
		return c.prefix == 0 && c.intermediate == 0 && n >= 11 && n <= 21
	}
	return false
}

// isOSCQuery knows colours, clipboard and iTerm's reports, whose value is "?" or ends in "=?".
func isOSCQuery(payload []byte) bool {
	number, rest, found := bytes.Cut(payload, []byte(";"))
	n, err := strconv.Atoi(string(number))
	if err != nil || !found {
		return false
	}
	switch {
	case n == 1337:
		return bytes.HasPrefix(rest, []byte("Report"))
	case n == 4 || n == 5 || n == 21 || n == 22 || n == 52 || n >= 10 && n <= 19:
	default:
		return false
	}
	for field := range bytes.SplitSeq(rest, []byte(";")) {
		if string(field) == "?" || bytes.HasSuffix(field, []byte("=?")) {
			return true
		}
	}
	return false
}

// stringPayload is what stands between a string's introducer and its terminator.
func stringPayload(seq []byte) []byte {
	seq = seq[2:]
	for _, end := range []string{"\x1b\\", "\x07", "\x18", "\x1a", "\x1b"} {
		if bytes.HasSuffix(seq, []byte(end)) {
			return seq[:len(seq)-len(end)]
		}
	}
	return seq
}

// csiSequence is a control sequence in its parts.
type csiSequence struct {
	prefix       byte // one of < = > ? before the parameters, or 0
	intermediate byte // the last byte 0x20 to 0x2F before the final one, or 0
	final        byte
	params       []int // -1 where omitted; sub-parameters count as parameters
}

const maxParam = 1 << 20

// parseCSI takes a sequence that begins with ESC [ and has its final byte.
func parseCSI(seq []byte) csiSequence {
	c := csiSequence{params: []int{-1}}
	if len(seq) < 3 {
		return c
	}
	c.final = seq[len(seq)-1]
	for _, b := range seq[2 : len(seq)-1] {
		last := &c.params[len(c.params)-1]
		switch {
		case b >= '0' && b <= '9':
			*last = min(max(*last, 0)*10+int(b-'0'), maxParam)
		case b == ';' || b == ':':
			c.params = append(c.params, -1)
		case b >= '<' && b <= '?':
			c.prefix = b
		case b >= 0x20 && b <= 0x2f:
			c.intermediate = b
		}
	}
	return c
}

// param is parameter i, or def where it is omitted.
func (c csiSequence) param(i, def int) int {
	if i >= len(c.params) || c.params[i] < 0 {
		return def
	}
	return c.params[i]
}

// normalize takes out of an escape or control sequence the controls that a terminal executes on the way
// and the bytes that it ignores. The payload of a string is as it is.
func normalize(seq []byte) (normal, controls []byte) {
	intro := 1
	for intro < len(seq) && !graphic(seq[intro]) {
		intro++
	}
	inside := seq[1:]
	if intro < len(seq) && bytes.IndexByte([]byte("]P_^Xk"), seq[intro]) >= 0 {
		inside = seq[1:intro]
	}
	odd := 0
	for _, c := range inside {
		if !graphic(c) {
			odd++
		}
	}
	if odd == 0 {
		return seq, nil
	}
	normal = append(normal, esc)
	for _, c := range inside {
		switch {
		case graphic(c):
			normal = append(normal, c)
		case c < 0x20:
			controls = append(controls, c)
		}
	}
	return append(normal, seq[1+len(inside):]...), controls
}

func graphic(c byte) bool { return c >= 0x20 && c < 0x7f }
