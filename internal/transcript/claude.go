package transcript

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// claude is Claude Code's: {"type":"user"|"assistant","message":{…}} among many
// lines of bookkeeping. Titles are repeated at each turn.
var claude = shape{
	titles:      [][2]string{{"custom-title", "customTitle"}, {"ai-title", "aiTitle"}},
	prompt:      claudePrompt,
	activity:    claudeActivity,
	interrupted: claudeInterrupted,
}

// claudePrompt: what a person typed or a script gave. Lines of type user also
// carry tool results, commands, their output, reminders and summaries.
func claudePrompt(line gjson.Result) string {
	if line.Get("type").Str != "user" || line.Get("isMeta").Bool() || line.Get("isSidechain").Bool() || line.Get("isCompactSummary").Bool() {
		return ""
	}
	text := messageText(line.Get("message.content"), "text")
	switch source := line.Get("promptSource"); source.Str {
	case "typed", "sdk":
		return text
	case "":
		// Versions before promptSource: all that is not a person's own begins
		// with a tag.
		if !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, interruptedMark) {
			return text
		}
	}
	return ""
}

func claudeActivity(line gjson.Result) string {
	if line.Get("type").Str != "assistant" || line.Get("isSidechain").Bool() {
		return ""
	}
	said := ""
	for _, part := range line.Get("message.content").Array() {
		switch part.Get("type").Str {
		case "tool_use":
			said = ToolUse(part.Get("name").Str, part.Get("input"))
		case "text":
			if text := OneLine(part.Get("text").Str); text != "" {
				said = text
			}
		}
	}
	return said
}

const interruptedMark = "[Request interrupted by user"

func claudeInterrupted(line gjson.Result) (time.Time, bool) {
	kind := line.Get("type").Str
	if kind != "user" && kind != "assistant" || line.Get("isSidechain").Bool() {
		return time.Time{}, false
	}
	if kind == "user" && strings.HasPrefix(messageText(line.Get("message.content"), "text"), interruptedMark) {
		at, _ := time.Parse(time.RFC3339, line.Get("timestamp").Str)
		return at, true
	}
	return time.Time{}, true
}
