package transcript

import "github.com/tidwall/gjson"

// gemini is Gemini CLI's: {"type":"user"|"gemini","content":…} after a first
// line about the session; a message is written again when it grows.
var gemini = shape{
	prompt: func(line gjson.Result) string {
		if line.Get("type").Str != "user" {
			return ""
		}
		return messageText(line.Get("content"), "")
	},
	activity: func(line gjson.Result) string {
		if line.Get("type").Str != "gemini" {
			return ""
		}
		if tools := line.Get("toolCalls").Array(); len(tools) > 0 {
			tool := tools[len(tools)-1]
			return ToolUse(tool.Get("name").Str, tool.Get("args"))
		}
		return OneLine(messageText(line.Get("content"), ""))
	},
}

// qwen is Qwen Code's: gemini's parts in claude's lines.
var qwen = shape{
	prompt: func(line gjson.Result) string {
		if line.Get("type").Str != "user" {
			return ""
		}
		return messageText(line.Get("message.parts"), "")
	},
	activity: func(line gjson.Result) string {
		if line.Get("type").Str != "assistant" {
			return ""
		}
		said := ""
		for _, part := range line.Get("message.parts").Array() {
			if call := part.Get("functionCall"); call.Exists() {
				said = ToolUse(call.Get("name").Str, call.Get("args"))
			} else if text := OneLine(part.Get("text").Str); text != "" && !part.Get("thought").Bool() {
				said = text
			}
		}
		return said
	},
}
