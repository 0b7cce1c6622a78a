package transcript

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// shape is how one CLI writes its conversation: JSON objects, one a line.
type shape struct {
	// titles are the lines that hold nothing but a title, the preferred first:
	// the value of type, and the field.
	titles [][2]string
	// prompt is the text of a line that a person typed, "" for any other.
	prompt func(line gjson.Result) string
	// activity is the tool used or the text said in a line of the model's, ""
	// for any other.
	activity func(line gjson.Result) string
	// interrupted is when the line says that the user broke the turn off.
	// spoken tells that the line is part of the conversation at all, so that
	// only the last such line is asked. nil: the CLI does not tell.
	interrupted func(line gjson.Result) (at time.Time, spoken bool)
}

// shapes are the transcripts that are understood, by runtime.
var shapes = map[string]shape{
	"claude":  claude,
	"codex":   codex,
	"gemini":  gemini,
	"qwen":    qwen,
	"copilot": copilot,
}

// titleGroup is how many lines above one title another may stand that belongs
// to it: a CLI repeats all of its titles together.
const titleGroup = 8

// lateTitle is the preferred one of the last titles, "" for none.
func (s shape) lateTitle(lines [][]byte) (title string) {
	rank, end := len(s.titles), 0
	for i := len(lines) - 1; i >= end && rank > 0; i-- {
		for r, t := range s.titles[:rank] {
			if !hasType(lines[i], t[0]) {
				continue
			}
			if text := OneLine(gjson.GetBytes(lines[i], t[1]).Str); text != "" {
				title, rank, end = text, r, max(end, i-titleGroup)
				break
			}
		}
	}
	return title
}

// last is what the model did last, and when the user broke it off.
func (s shape) last(tail [][]byte) (activity string, interrupted time.Time) {
	open := s.interrupted != nil
	for _, raw := range slices.Backward(tail) {
		if !gjson.ValidBytes(raw) {
			continue
		}
		line := gjson.ParseBytes(raw)
		if open {
			at, spoken := s.interrupted(line)
			interrupted, open = at, !spoken
		}
		if activity = s.activity(line); activity != "" {
			return activity, interrupted
		}
	}
	return "", interrupted
}

func (s shape) firstPrompt(head [][]byte) string {
	for _, raw := range head {
		if !gjson.ValidBytes(raw) {
			continue
		}
		if text := s.prompt(gjson.ParseBytes(raw)); text != "" {
			return OneLine(text)
		}
	}
	return ""
}
