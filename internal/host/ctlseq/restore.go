package ctlseq

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Terminate ends whatever sequence a terminal is in the middle of, and does nothing to one that is in
// none. It is ST twice, because a device control string takes the first for payload after a lone ESC.
const Terminate = "\x1b\\\x1b\\"

// Reset is what takes a terminal back from these modes to its defaults, and nothing else: what the
// program did not set is not touched. The cursor may move.
func (m *Modes) Reset() []byte {
	var out strings.Builder
	for _, mode := range slices.Sorted(maps.Keys(m.private)) {
		fmt.Fprintf(&out, "\x1b[?%d%c", mode, onOff(!m.private[mode]))
	}
	for _, mode := range slices.Sorted(maps.Keys(m.ansi)) {
		fmt.Fprintf(&out, "\x1b[%dl", mode)
	}
	if m.alt != 0 {
		out.WriteString(popKeyboard(m.kitty[altOther]))
		fmt.Fprintf(&out, "\x1b[?%dl", m.alt)
	}
	out.WriteString(popKeyboard(m.kitty[altMain]))
	for _, option := range slices.Sorted(maps.Keys(m.keys)) {
		fmt.Fprintf(&out, "\x1b[>%dm", option)
	}
	when(&out, m.shape != 0, "\x1b[0 q")
	when(&out, m.keypad, "\x1b>")
	when(&out, m.region, "\x1b[r")
	when(&out, m.charset != 0, "\x1b(B")
	when(&out, m.shiftOut, "\x0f")
	when(&out, m.link != nil, "\x1b]8;;\x1b\\")
	for _, colour := range slices.Sorted(maps.Keys(m.colours)) {
		fmt.Fprintf(&out, "\x1b]%d\x1b\\", 100+colour)
	}
	when(&out, m.palette, "\x1b]104\x1b\\")
	when(&out, m.pointer, "\x1b]22;\x1b\\")
	when(&out, m.progress, "\x1b]9;4;0\x1b\\")
	out.WriteString("\x1b[m")
	return []byte(out.String())
}

// Keyboard is what gives a terminal the keyboard flags that the program pushed on its main screen or, with
// alternate, on its alternate one: each screen has a stack of its own, and the terminal must be on it.
func (m *Modes) Keyboard(alternate bool) []byte {
	stack := m.kitty[altMain]
	if alternate {
		stack = m.kitty[altOther]
	}
	var out strings.Builder
	for _, flags := range stack {
		fmt.Fprintf(&out, "\x1b[>%du", flags)
	}
	return []byte(out.String())
}

// EnterAlternate is the sequence by which the program got to the alternate screen; empty where it is not.
func (m *Modes) EnterAlternate() []byte {
	if m.alt == 0 {
		return nil
	}
	return fmt.Appendf(nil, "\x1b[?%dh", m.alt)
}

// Set is what gives a fresh terminal all other modes: all but the screen, its keyboard flags, its scroll
// region and its contents. An update that the program holds back (2026) is not held back again.
func (m *Modes) Set() []byte {
	var out strings.Builder
	for _, mode := range slices.Sorted(maps.Keys(m.private)) {
		if mode != syncMode {
			fmt.Fprintf(&out, "\x1b[?%d%c", mode, onOff(m.private[mode]))
		}
	}
	for _, mode := range slices.Sorted(maps.Keys(m.ansi)) {
		fmt.Fprintf(&out, "\x1b[%dh", mode)
	}
	for _, option := range slices.Sorted(maps.Keys(m.keys)) {
		fmt.Fprintf(&out, "\x1b[>%d;%dm", option, m.keys[option])
	}
	if m.shape != 0 {
		fmt.Fprintf(&out, "\x1b[%d q", m.shape)
	}
	when(&out, m.keypad, "\x1b=")
	when(&out, m.charset != 0, "\x1b("+string(rune(m.charset)))
	when(&out, m.shiftOut, "\x0e")
	for _, colour := range slices.Sorted(maps.Keys(m.colours)) {
		fmt.Fprintf(&out, "\x1b]%d;%s\x1b\\", colour, m.colours[colour])
	}
	if len(m.title) > 0 {
		fmt.Fprintf(&out, "\x1b]2;%s\x07", m.title)
	}
	out.Write(m.pen.sequence())
	if m.link != nil {
		fmt.Fprintf(&out, "\x1b]8;%s\x1b\\", m.link)
	}
	return []byte(out.String())
}

func popKeyboard(stack []int) string {
	if len(stack) == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[<%du", len(stack))
}

func onOff(on bool) byte {
	if on {
		return 'h'
	}
	return 'l'
}

func when(out *strings.Builder, condition bool, sequence string) {
	if condition {
		out.WriteString(sequence)
	}
}
