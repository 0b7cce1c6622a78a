package runtimes

import (
	"strings"
	"unicode/utf8"
)

// Keep is the form of values that may be written down and used again: nothing
// that may be a prompt, a key or another free text.
type Keep int

const (
	Never Keep = iota
	// Word is a name out of a limited alphabet (a model, a mode, tools), or no
	// value at all.
	Word
	// Path is a file or folder.
	Path
)

// KeptFlags are those of a launch's flags that may stand in its record and come
// back when its conversation is resumed: model, permissions, added folders and
// their like, in the form and order they were given. A value of a list that may
// be something else is left out alone.
func (p Profile) KeptFlags(args []string) []string {
	var kept []string
	for i := range p.items(args) {
		if i.flag == nil || i.flag.Keep == Never {
			continue
		}
		values := i.keptValues()
		switch {
		case len(values) == 0 && len(i.values) > 0, len(values) == 0 && i.flag.takesOne():
		case i.joined:
			kept = append(kept, i.name+i.sep+values[0])
		default:
			kept = append(append(kept, i.name), values...)
		}
	}
	return kept
}

// takesOne tells a flag that is incomplete without a value.
func (f *Flag) takesOne() bool { return f.Takes == Value || f.Takes == Many }

func (i item) keptValues() []string {
	var kept []string
	for n, v := range i.values {
		// Only the first value of a list is surely one: a prompt may have been
		// meant by the others.
		if i.flag.Keep == Word && isPlain(v) || i.flag.Keep == Path && isPath(v, n == 0) {
			kept = append(kept, v)
		}
	}
	return kept
}

// isPlain tells a name of a limited alphabet, as models, modes and tools have.
func isPlain(s string) bool {
	return s != "" && len(s) <= 128 && s[0] != '-' && strings.Trim(s, idChars+".,:/@+[]*") == ""
}

// isPath tells a file's or folder's name from other values that a flag takes in
// its place (JSON) and from a prompt's words.
func isPath(s string, sure bool) bool {
	if s == "" || len(s) > 4096 || s[0] == '-' || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`{}"`, r) }) {
		return false
	}
	if !strings.ContainsAny(s, " ") {
		return true
	}
	for _, start := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(s, start) {
			return sure
		}
	}
	return false
}
