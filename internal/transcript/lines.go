package transcript

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// linesOf are a window's lines. The partial one at its beginning is dropped,
// unless the file begins there, and so is an unfinished one at its end.
func linesOf(window []byte, fromStart bool) [][]byte {
	if !fromStart {
		at := bytes.IndexByte(window, '\n')
		if at < 0 {
			return nil
		}
		window = window[at+1:]
	}
	lines := make([][]byte, 0, 256)
	for len(window) > 0 {
		end := bytes.IndexByte(window, '\n')
		if end < 0 {
			if gjson.ValidBytes(window) {
				lines = append(lines, window)
			}
			break
		}
		lines = append(lines, window[:end])
		window = window[end+1:]
	}
	return lines
}

// typeWithin is how near its beginning a line of bookkeeping names its type, in
// bytes.
const typeWithin = 64

// hasType tells whether a line that holds little but a field is of a type, by
// its first bytes and then by what it is.
func hasType(line []byte, kind string) bool {
	return bytes.Contains(line[:min(len(line), typeWithin)], []byte(`"`+kind+`"`)) && gjson.GetBytes(line, "type").Str == kind
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
