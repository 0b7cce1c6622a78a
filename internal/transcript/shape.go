package transcript

import (
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

func (s shape) lateTitle(window []byte) string {
	for _, t := range s.titles {
		if title := lastField(window, t[0], t[1]); title != "" {
			return title
		}
	}
	return ""
}

// last is what the model did last, and when the user broke it off.
func (s shape) last(tail []byte) (activity string, interrupted time.Time) {
	open := s.interrupted != nil
	for raw := range backwards(tail) {
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

func (s shape) firstPrompt(head []byte) string {
	for raw := range forwards(head) {
		if !gjson.ValidBytes(raw) {
			continue
		}
		if text := s.prompt(gjson.ParseBytes(raw)); text != "" {
			return OneLine(text)
		}
	}
	return ""
}
