package ctlseq

import (
	"bytes"
	"strconv"
)

// Modes is what a program has set in its terminal and not reset: what a terminal that leaves must undo
// (Reset) and one that comes must be given (Set). It follows the stream, not a terminal, so what a
// terminal knows alone (saved cursors, tab stops, the stack of titles) is not in it.
type Modes struct {
	private  map[int]bool // DEC private modes that are not at their default
	ansi     map[int]bool // insert (4), newline (20)
	alt      int          // the mode that entered the alternate screen, or 0
	kitty    [2][]int     // keyboard flags pushed, of the main and the alternate screen
	keys     map[int]int  // xterm's key modifier options, 4 is modifyOtherKeys
	shape    int          // cursor, DECSCUSR
	keypad   bool         // application keypad
	region   bool         // scroll region set
	charset  byte         // G0, 0 for ASCII
	shiftOut bool         // G1 is in use
	colours  map[int]string
	palette  bool
	pointer  bool // shape of the mouse pointer
	progress bool // OSC 9;4
	link     []byte
	title    []byte
	pen      pen
	changed  bool
}

// privateDefaults are the modes that are followed, with what a terminal starts with.
var privateDefaults = map[int]bool{
	1: false, 5: false, 6: false, 7: true, 9: false, 12: false, 25: true, 45: false, 66: false, 67: false,
	1000: false, 1001: false, 1002: false, 1003: false, 1004: false, 1005: false, 1006: false, 1007: false,
	1015: false, 1016: false, 2004: false, 2026: false, 2027: false, 2031: false, 2048: false, 5522: false,
	9001: false,
}

const (
	focusMode   = 1004
	syncMode    = 2026
	maxKitty    = 64 // entries of a keyboard stack; terminals keep fewer
	maxTitle    = 1024
	maxColour   = 64
	altMain     = 0
	altOther    = 1
	appKeypad   = '='
	plainKeypad = '>'
)

// Focus tells whether the program wants focus events.
func (m *Modes) Focus() bool { return m.private[focusMode] }

// AlternateScreen tells whether the program is on the alternate screen.
func (m *Modes) AlternateScreen() bool { return m.alt != 0 }

// Changed tells whether Reset may give another answer than when Changed was last called.
func (m *Modes) Changed() bool {
	changed := m.changed
	m.changed = false
	return changed
}

func (m *Modes) screen() int {
	if m.alt != 0 {
		return altOther
	}
	return altMain
}

// text follows the two controls that choose a character set.
func (m *Modes) text(plain []byte) {
	if out, in := bytes.LastIndexByte(plain, 0x0e), bytes.LastIndexByte(plain, 0x0f); out != in {
		m.shiftOut = out > in
		m.changed = true
	}
}

// sequence follows one normal sequence.
func (m *Modes) sequence(seq []byte) {
	if len(seq) < 2 {
		return
	}
	switch seq[1] {
	case '[':
		m.control(seq, parseCSI(seq))
		return
	case ']':
		m.osc(stringPayload(seq))
		return
	case appKeypad, plainKeypad:
		m.keypad = seq[1] == appKeypad
	case '(':
		if len(seq) != 3 || seq[2] < '0' {
			return
		}
		m.charset = seq[2]
		if m.charset == 'B' {
			m.charset = 0
		}
	case 'c': // RIS
		*m = Modes{}
	default:
		return
	}
	m.changed = true
}

func (m *Modes) control(seq []byte, c csiSequence) {
	if c.final == 'm' && c.prefix == 0 && c.intermediate == 0 {
		m.pen.apply(seq[2 : len(seq)-1])
		return
	}
	switch {
	case (c.final == 'h' || c.final == 'l') && c.intermediate == 0 && c.prefix == '?':
		m.setPrivate(c.params, c.final == 'h')
	case (c.final == 'h' || c.final == 'l') && c.intermediate == 0 && c.prefix == 0:
		m.setANSI(c.params, c.final == 'h')
	case c.final == 'u':
		m.keyboard(c)
	case c.final == 'm' && c.prefix == '>':
		m.keyOption(c)
	case c.final == 'n' && c.prefix == '>':
		delete(m.keys, c.param(0, 2))
	case c.final == 'q' && c.intermediate == ' ':
		m.shape = c.param(0, 0)
	case c.final == 'r' && c.prefix == 0 && c.intermediate == 0:
		m.region = c.param(0, 1) > 1 || c.param(1, 0) > 0
	case c.final == 'p' && c.intermediate == '!':
		m.softReset()
	default:
		return
	}
	m.changed = true
}

func (m *Modes) setPrivate(params []int, on bool) {
	for _, mode := range params {
		switch def, followed := privateDefaults[mode]; {
		case mode == 47 || mode == 1047 || mode == 1049:
			m.alt = 0
			if on {
				m.alt = mode
			}
		case !followed:
		case on == def:
			delete(m.private, mode)
		default:
			put(&m.private, mode, on)
		}
	}
}

func (m *Modes) setANSI(params []int, on bool) {
	for _, mode := range params {
		switch {
		case mode != 4 && mode != 20:
		case on:
			put(&m.ansi, mode, true)
		default:
			delete(m.ansi, mode)
		}
	}
}

// keyboard follows kitty's keyboard protocol: push, pop and set, for each screen its own stack.
func (m *Modes) keyboard(c csiSequence) {
	stack := &m.kitty[m.screen()]
	top := len(*stack) - 1
	switch c.prefix {
	case '>':
		*stack = append(*stack, c.param(0, 0))
		if len(*stack) > maxKitty {
			*stack = (*stack)[1:]
		}
	case '<':
		*stack = (*stack)[:max(0, len(*stack)-max(c.param(0, 1), 1))]
	case '=':
		if top < 0 {
			*stack, top = []int{0}, 0
		}
		flags := c.param(0, 0)
		switch c.param(1, 1) {
		case 2:
			flags |= (*stack)[top]
		case 3:
			flags = (*stack)[top] &^ flags
		}
		(*stack)[top] = flags
	}
}

func (m *Modes) keyOption(c csiSequence) {
	if c.params[0] < 0 {
		m.keys = nil
		return
	}
	if len(c.params) < 2 {
		delete(m.keys, c.params[0])
		return
	}
	if c.params[0] < 8 {
		put(&m.keys, c.params[0], c.param(1, 0))
	}
}

// softReset is DECSTR.
func (m *Modes) softReset() {
	for _, mode := range []int{1, 6, 7, 25, 66} {
		delete(m.private, mode)
	}
	m.ansi, m.pen, m.region, m.charset, m.shiftOut, m.keypad = nil, pen{}, false, 0, false, false
}

func (m *Modes) osc(payload []byte) {
	number, rest, _ := bytes.Cut(payload, []byte(";"))
	n, err := strconv.Atoi(string(number))
	if err != nil {
		return
	}
	switch {
	case n == 0 || n == 2:
		m.title = bytes.Clone(rest[:min(len(rest), maxTitle)])
		return
	case n == 8:
		m.setLink(rest)
	case n == 9 && bytes.HasPrefix(rest, []byte("4;")):
		m.progress = !bytes.HasPrefix(rest, []byte("4;0"))
	case isOSCQuery(payload):
		return
	case n == 4:
		m.palette = true
	case n == 104:
		m.palette = false
	case n >= 10 && n <= 19 && len(rest) <= maxColour:
		put(&m.colours, n, string(rest))
	case n >= 110 && n <= 119:
		delete(m.colours, n-100)
	case n == 22:
		m.pointer = len(rest) > 0 && string(rest) != "default"
	default:
		return
	}
	m.changed = true
}

// setLink keeps an open hyperlink; its parameters are before the first semicolon, its address behind.
func (m *Modes) setLink(rest []byte) {
	_, address, _ := bytes.Cut(rest, []byte(";"))
	m.link = nil
	if len(address) > 0 && len(rest) <= maxTitle {
		m.link = bytes.Clone(rest)
	}
}

func put[K comparable, V any](target *map[K]V, key K, value V) {
	if *target == nil {
		*target = map[K]V{}
	}
	(*target)[key] = value
}
