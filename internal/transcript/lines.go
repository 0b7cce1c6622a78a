package transcript

import (
	"bytes"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// wholeLines drops the partial line at a window's beginning, unless the file
// begins there, and the unfinished one at its end.
func wholeLines(window []byte, fromStart bool) []byte {
	if !fromStart {
		at := bytes.IndexByte(window, '\n')
		if at < 0 {
			return nil
		}
		window = window[at+1:]
	}
	end := bytes.LastIndexByte(window, '\n') + 1
	if rest := window[end:]; len(rest) > 0 && gjson.ValidBytes(rest) {
		return window
	}
	return window[:end]
}

// backwards yields a window's lines, the last one first.
func backwards(window []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(window) > 0 {
			body := bytes.TrimSuffix(window, []byte{'\n'})
			at := bytes.LastIndexByte(body, '\n')
			if !yield(body[at+1:]) {
				return
			}
			window = window[:at+1]
		}
	}
}

// lastField is the field of the last line in a window whose type is kind. It
// searches for the word and looks only at lines that hold it.
func lastField(window []byte, kind, field string) string {
	word := []byte(`"` + kind + `"`)
	found := ""
	for at := 0; ; {
		next := bytes.Index(window[at:], word)
		if next < 0 {
			return found
		}
		at += next
		line := lineAround(window, at)
		if got := gjson.GetManyBytes(line, "type", field); got[0].Str == kind && got[1].Str != "" {
			found = OneLine(got[1].Str)
		}
		end := bytes.IndexByte(window[at:], '\n')
		if end < 0 {
			return found
		}
		at += end
	}
}

func lineAround(window []byte, at int) []byte {
	start := bytes.LastIndexByte(window[:at], '\n') + 1
	end := bytes.IndexByte(window[at:], '\n')
	if end < 0 {
		return window[start:]
	}
	return window[start : at+end]
}

// textLimit bounds a title or an activity, in bytes.
const textLimit = 200

// OneLine makes a text one line of valid UTF-8, cut to textLimit.
func OneLine(s string) string {
	cut := s
	if len(cut) > 4*textLimit {
		cut = cut[:4*textLimit]
	}
	cut = strings.Join(strings.Fields(strings.ToValidUTF8(cut, "\uFFFD")), " ")
	if len(cut) <= textLimit {
		return cut
	}
	cut = cut[:textLimit]
	for len(cut) > 0 && !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return strings.TrimSpace(cut) + "…"
}

// toolHints are the arguments that say best what a tool was used on.
var toolHints = []string{"command", "cmd", "file_path", "filePath", "path", "pattern", "url", "query", "description", "prompt"}

// ToolUse is a tool's name and what it was used on. Arguments may be an object
// or an object inside a string.
func ToolUse(name string, args gjson.Result) string {
	if args.Type == gjson.String {
		args = gjson.Parse(args.Str)
	}
	for _, hint := range toolHints {
		if v := args.Get(hint); v.Type == gjson.String && v.Str != "" {
			return OneLine(name + ": " + v.Str)
		}
	}
	return OneLine(name)
}

// messageText is a message's text: a string, or the parts of a list that are
// of the given type ("": that have a text at all).
func messageText(content gjson.Result, partType string) string {
	if content.Type == gjson.String {
		return content.Str
	}
	for _, part := range content.Array() {
		if text := part.Get("text").Str; text != "" && (partType == "" || part.Get("type").Str == partType) {
			return text
		}
	}
	return ""
}

func joined(list gjson.Result) string {
	var words []string
	for _, w := range list.Array() {
		words = append(words, w.Str)
	}
	return strings.Join(words, " ")
}

// forwards yields a window's lines, the first one first.
func forwards(window []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(window) {
			if !yield(bytes.TrimSuffix(line, []byte{'\n'})) {
				return
			}
		}
	}
}
