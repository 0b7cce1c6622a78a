package ctlseq

import (
	"bytes"
	"strconv"
	"strings"
)

// pen is how text is drawn: the effect of all SGR sequences so far. Each slot holds the parameter that set it
// last, "" where it is at its default.
type pen [penSlots]string

const (
	bold = iota
	dim
	italic
	underline
	blink
	inverse
	hidden
	struck
	overline
	foreground
	background
	underlineColour
	penSlots
)

// slots are where the parameters of SGR that stand for themselves are kept.
var slots = map[int]int{
	1: bold, 2: dim, 3: italic, 4: underline, 21: underline, 5: blink, 6: blink, 7: inverse, 8: hidden, 9: struck, 53: overline,
}

// cleared are what the parameters that take back clear.
var cleared = map[int][]int{
	22: {bold, dim}, 23: {italic}, 24: {underline}, 25: {blink}, 27: {inverse}, 28: {hidden}, 29: {struck}, 55: {overline},
	39: {foreground}, 49: {background}, 59: {underlineColour},
}

const maxPenParameter = 32 // bytes; the longest is a colour with sub-parameters

// apply takes the parameters of one SGR sequence, what stands between ESC [ and m.
func (p *pen) apply(params []byte) {
	fields := strings.Split(string(params), ";")
	for len(fields) > 0 {
		used := 1
		number, _, sub := strings.Cut(fields[0], ":")
		code, err := strconv.Atoi(number)
		switch {
		case fields[0] == "" || err == nil && code == 0:
			*p = pen{}
		case err != nil || len(fields[0]) > maxPenParameter:
		case code == 38 || code == 48 || code == 58:
			if !sub {
				used = colourFields(fields)
			}
			p.set(foreground+(code-38)/10, strings.Join(fields[:used], ";"))
		case code >= 30 && code <= 37 || code >= 90 && code <= 97:
			p[foreground] = number
		case code >= 40 && code <= 47 || code >= 100 && code <= 107:
			p[background] = number
		default:
			p.attribute(code, fields[0])
		}
		fields = fields[used:]
	}
}

func (p *pen) set(slot int, parameter string) {
	if len(parameter) <= maxPenParameter {
		p[slot] = parameter
	}
}

func (p *pen) attribute(code int, parameter string) {
	if code == 4 && strings.HasPrefix(parameter, "4:0") {
		p[underline] = ""
		return
	}
	if slot, found := slots[code]; found {
		p[slot] = parameter
	}
	for _, slot := range cleared[code] {
		p[slot] = ""
	}
}

// colourFields is how many fields a colour takes that begins with 38, 48 or 58.
func colourFields(fields []string) int {
	switch {
	case len(fields) < 2:
		return 1
	case fields[1] == "5":
		return min(3, len(fields))
	case fields[1] == "2":
		return min(5, len(fields))
	}
	return 2
}

// sequence is what makes a pen at its default like this one.
func (p *pen) sequence() []byte {
	var params []string
	for _, parameter := range p {
		if parameter != "" {
			params = append(params, parameter)
		}
	}
	if len(params) == 0 {
		return nil
	}
	return []byte("\x1b[" + strings.Join(params, ";") + "m")
}

// Lines appends to dst what draws lines, each ended by a newline, of which every one begins with the
// attributes that the one before ended with: as tmux captures a pane. Each then stands for itself, so that a
// terminal that scrolls fills no line with another's background. It ends with the pen at its default and the
// cursor behind the last line, which gets no newline.
func Lines(dst, lines []byte) []byte {
	var f Filter
	lines = bytes.TrimSuffix(lines, []byte("\n"))
	for i, line := range bytes.Split(lines, []byte("\n")) {
		if i > 0 {
			dst = append(dst, "\x1b[m\r\n"...)
			dst = append(dst, f.Modes.pen.sequence()...)
		}
		dst = f.Feed(dst, line, Answer)
	}
	return append(dst, "\x1b[m"...)
}
