package cli

// oscFilter replaces the bytes above ASCII in OSC strings (titles, links). The emulator takes the byte 0x9C for the end
// of a string even inside a UTF-8 character such as the star of Claude Code's title, and would show the rest of it.
type oscFilter struct{ state oscState }

type oscState int

const (
	oscGround oscState = iota
	oscEscape
	oscString
)

// filter changes data in place. A string may go on in the next call's data.
func (f *oscFilter) filter(data []byte) {
	for i, b := range data {
		f.state = f.state.next(b)
		if f.state == oscString && b >= 0x80 {
			data[i] = '?'
		}
	}
}

func (s oscState) next(b byte) oscState {
	const bel, can, sub, esc = 0x07, 0x18, 0x1a, 0x1b
	switch {
	case b == esc:
		return oscEscape
	case s == oscEscape && b == ']':
		return oscString
	case s == oscString && b != bel && b != can && b != sub:
		return oscString
	}
	return oscGround
}
