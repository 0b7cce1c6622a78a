package ctlseq

// end says how a byte relates to the end of the sequence it was read in.
type end uint8

const (
	open   end = iota // the sequence goes on
	after             // the byte is its last
	before            // it ended before this byte or, in a string, before the ESC that came before it
)

// dcsPart is how far the head of a device control string was read; tmux ignores one that is malformed
// and then lets any ESC end it.
type dcsPart uint8

const (
	dcsEnter dcsPart = iota
	dcsParameter
	dcsIntermediate
	dcsIgnored
)

const (
	can = 0x18 // aborts a sequence
	sub = 0x1a // aborts a sequence
	esc = 0x1b
	bel = 0x07
)

// step reads one byte of a sequence, ESC itself already read.
func (s *scanner) step(c byte) end {
	switch s.state {
	case dcsBody:
		if c == esc {
			s.state = dcsEscape
		}
		return open
	case dcsEscape:
		if c == '\\' {
			return after
		}
		s.state = dcsBody // tmux takes any byte here for payload, a second ESC too
		return open
	case stringEscape:
		if c == '\\' {
			return after
		}
		return before
	}
	switch {
	case c == esc && s.state == stringBody:
		s.state = stringEscape
		return open
	case c == esc:
		return before
	case c == can || c == sub:
		return after
	}
	return s.stepInner(c)
}

func (s *scanner) stepInner(c byte) end {
	switch s.state {
	case escape, escapeIntermediate:
		return s.stepEscape(c)
	case csi:
		if c >= 0x40 && c <= 0x7e {
			return after
		}
	case dcsHead:
		s.stepDCS(c)
	case stringBody:
		if c == bel && s.intro == ']' {
			return after
		}
	}
	return open
}

func (s *scanner) stepEscape(c byte) end {
	switch {
	case c < 0x20 || c >= 0x7f: // executed or ignored
		return open
	case c < 0x30:
		s.state = escapeIntermediate
		return open
	case s.state == escapeIntermediate:
		return after
	}
	s.intro = c
	switch c {
	case '[':
		s.state = csi
	case 'P':
		s.state, s.dcs = dcsHead, dcsEnter
	case ']', '_', '^', 'X', 'k':
		s.state = stringBody
	default:
		return after
	}
	return open
}

func (s *scanner) stepDCS(c byte) {
	switch {
	case s.dcs == dcsIgnored, c < 0x20, c >= 0x7f:
	case c >= 0x40:
		s.state = dcsBody
	case c < 0x30:
		s.dcs = dcsIntermediate
	case c == ':', s.dcs == dcsIntermediate, c >= '<' && s.dcs == dcsParameter:
		s.dcs = dcsIgnored
	default:
		s.dcs = dcsParameter
	}
}
