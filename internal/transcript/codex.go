package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// codex is Codex's rollout: {"type":"response_item"|"event_msg","payload":{…}}.
var codex = shape{prompt: codexPrompt, activity: codexActivity}

// codexPrompt: the harness speaks as the user too; newer versions say so, older
// ones wrap what they add in tags.
func codexPrompt(line gjson.Result) string {
	payload := line.Get("payload")
	if line.Get("type").Str != "response_item" || payload.Get("type").Str != "message" || payload.Get("role").Str != "user" {
		return ""
	}
	text := messageText(payload.Get("content"), "input_text")
	kind := payload.Get("internal_chat_message_metadata_passthrough.content_item_kinds.0").Str
	if kind != "" && !strings.HasPrefix(kind, "user.") {
		return ""
	}
	for _, added := range []string{"<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions"} {
		if strings.HasPrefix(text, added) {
			return ""
		}
	}
	return text
}

func codexActivity(line gjson.Result) string {
	payload := line.Get("payload")
	switch line.Get("type").Str + " " + payload.Get("type").Str {
	case "event_msg task_complete":
		return OneLine(payload.Get("last_agent_message").Str)
	case "response_item function_call", "response_item custom_tool_call":
		args := payload.Get("arguments")
		if !args.Exists() {
			args = payload.Get("input")
		}
		return ToolUse(payload.Get("name").Str, args)
	case "response_item local_shell_call":
		return OneLine("shell: " + joined(payload.Get("action.command")))
	case "response_item message":
		if payload.Get("role").Str == "assistant" {
			return OneLine(messageText(payload.Get("content"), "output_text"))
		}
	}
	return ""
}
