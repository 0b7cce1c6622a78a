package transcript

import "github.com/tidwall/gjson"

// copilot is GitHub Copilot CLI's: events, {"type":"user.message","data":{…}}.
var copilot = shape{
	prompt: func(line gjson.Result) string {
		if line.Get("type").Str != "user.message" {
			return ""
		}
		return line.Get("data.content").Str
	},
	activity: func(line gjson.Result) string {
		data := line.Get("data")
		switch line.Get("type").Str {
		case "tool.execution_start":
			return ToolUse(data.Get("toolName").Str, data.Get("arguments"))
		case "assistant.message":
			return OneLine(data.Get("content").Str)
		}
		return ""
	},
}
