package deliver

import (
	"strings"

	"agentwrap/internal/runtimes"
	"agentwrap/internal/screen"
)

// Prompt is what a session's screen says of its prompt.
type Prompt int

const (
	// Elsewhere: the cursor is not at the prompt: a question is on the screen, or
	// something else that is no prompt.
	Elsewhere Prompt = iota
	// Empty: it waits for a line.
	Empty
	// Draft: something stands there that was not sent.
	Draft
	// Busy: the CLI works.
	Busy
)

// ReadPrompt tells what a screen says of a CLI's prompt. It is the one decision
// on whether something may be typed.
func ReadPrompt(s screen.Screen, look runtimes.Prompt) Prompt {
	text, marked := behind(s.Solid(s.Row), look)
	switch {
	case !marked:
		return Elsewhere
	case text != "":
		return Draft
	case continued(s.Solid(s.Row+1), look):
		return Draft
	case look.Busy != "" && strings.Contains(strings.Join(s.Lines(), "\n"), look.Busy):
		return Busy
	}
	return Empty
}

// behind is what stands behind the mark of a prompt's row, "" for the hint.
func behind(row string, look runtimes.Prompt) (text string, marked bool) {
	row = strings.TrimSpace(row)
	for _, mark := range strings.Fields(look.Mark) {
		if text, marked = strings.CutPrefix(row, mark); marked {
			break
		}
	}
	text = strings.TrimSpace(text)
	if look.Hint != "" && strings.HasPrefix(text, look.Hint) {
		text = ""
	}
	return text, marked
}

// continued tells a row below an empty first one that holds more of a draft: no
// frame, and not blank.
func continued(row string, look runtimes.Prompt) bool {
	text, _ := behind(row, look)
	return strings.Trim(text, "─━═╌╍╰╯└┘╹▀▄▔▁│┃ ") != ""
}

// tailLength is how many characters of a line's end tell it from other lines.
const tailLength = 12

// stands tells whether the row of the cursor is the last one of a text that was
// pasted, or what a CLI shows in the place of a long one. A question's row,
// which may begin with the same mark, must not pass for it.
func stands(row, text string, look runtimes.Prompt) bool {
	last := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	shown, marked := behind(row, look)
	if !marked {
		shown = strings.Trim(row, "│┃ ")
	}
	runes := []rune(last)
	switch {
	case shown == "":
		return false
	case strings.HasPrefix(shown, "[Pasted") || shown == last:
		return true
	case len(runes) <= tailLength:
		return false
	case len([]rune(shown)) < tailLength: // the last few, since the row before is full
		return !marked && strings.HasSuffix(last, shown)
	}
	return strings.HasSuffix(shown, string(runes[len(runes)-tailLength:]))
}
