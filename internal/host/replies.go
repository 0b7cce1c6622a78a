package host

import "bytes"

// dropReplies takes out of what comes from the pane what tmux itself may answer while a terminal is attached:
// queries are kept from it then, and this is the net below that. Only what no key sends is dropped: a cursor
// position report looks like Shift-F3 and stays.
func dropReplies(b []byte) []byte {
	if bytes.IndexByte(b, 0x1b) < 0 {
		return b
	}
	kept := b[:0:0]
	for len(b) > 0 {
		if n := replyLength(b); n > 0 {
			b = b[n:]
			continue
		}
		next := bytes.IndexByte(b[1:], 0x1b)
		if next < 0 {
			return append(kept, b...)
		}
		kept, b = append(kept, b[:next+1]...), b[next+1:]
	}
	return kept
}

// replyLength is how long the reply is that b begins with; 0 for none.
func replyLength(b []byte) int {
	if len(b) < 3 || b[0] != 0x1b {
		return 0
	}
	switch b[1] {
	case '[':
		return csiReply(b)
	case 'P', ']':
		return stringReply(b)
	}
	return 0
}

// csiReply knows device attributes (c with ? or >), state reports (0n, ?…n), mode reports ($y) and window
// reports (t with a leading 4, 5, 6, 8 or 9).
func csiReply(b []byte) int {
	end := 2
	for end < len(b) && b[end] >= 0x20 && b[end] < 0x40 {
		end++
	}
	if end == len(b) {
		return 0
	}
	params := string(b[2:end])
	private := params != "" && (params[0] == '?' || params[0] == '>')
	switch b[end] {
	case 'c':
		if private {
			return end + 1
		}
	case 'n':
		if params == "0" || private {
			return end + 1
		}
	case 'y':
		if bytes.HasSuffix(b[:end], []byte("$")) {
			return end + 1
		}
	case 't':
		if len(params) > 2 && params[1] == ';' && bytes.IndexByte([]byte("45689"), params[0]) >= 0 {
			return end + 1
		}
	}
	return 0
}

// stringReply knows XTVERSION, DECRQSS and colours.
func stringReply(b []byte) int {
	known := false
	for _, head := range []string{"\x1bP>|", "\x1bP0$r", "\x1bP1$r", "\x1b]4;", "\x1b]10;", "\x1b]11;", "\x1b]12;"} {
		known = known || bytes.HasPrefix(b, []byte(head))
	}
	if !known {
		return 0
	}
	for i, c := range b {
		switch {
		case c == 0x07 && b[1] == ']':
			return i + 1
		case c == '\\' && b[i-1] == 0x1b:
			return i + 1
		}
	}
	return 0
}
