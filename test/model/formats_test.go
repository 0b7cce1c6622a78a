package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// In each wire format: a prompt, the tool call that answers it, and the request that carries the tool's result.
var formats = []struct {
	api, path        string
	prompt, result   string
	wantCall, wantIn string // in the first answer, and in the second
}{
	{
		api: "anthropic", path: "/v1/messages",
		prompt: `{"model":"m","stream":true,"tools":[{"name":"Read"},{"name":"Bash"}],"messages":[{"role":"user","content":"make it"}]}`,
		result: `{"model":"m","tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"make it"},
			{"role":"assistant","content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"1","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"done"}]}]}]}`,
		wantCall: `"partial_json":"{\"command\":\"touch made\"`, wantIn: `"text":"It is made."`,
	},
	{
		api: "responses", path: "/v1/responses",
		prompt: `{"model":"m","stream":true,"tools":[{"type":"function","name":"exec_command"}],
			"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"make it"}]}]}`,
		result: `{"model":"m","stream":true,"tools":[{"type":"function","name":"exec_command"}],"input":[
			{"type":"message","role":"user","content":[{"type":"input_text","text":"make it"}]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I will."}]},
			{"type":"function_call","name":"exec_command","call_id":"1","arguments":"{}"},
			{"type":"function_call_output","call_id":"1","output":"done"}]}`,
		wantCall: `"arguments":"{\"cmd\":\"touch made\"}"`, wantIn: `"delta":"It is made."`,
	},
	{
		api: "chat", path: "/v1/chat/completions",
		prompt: `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"bash"}}],"messages":[{"role":"user","content":"make it"}]}`,
		result: `{"model":"m","tools":[{"type":"function","function":{"name":"bash"}}],"messages":[{"role":"user","content":"make it"},
			{"role":"assistant","content":"I will.","tool_calls":[{"id":"1","function":{"name":"bash","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"1","content":"done"}]}`,
		wantCall: `"arguments":"{\"command\":\"touch made\"`, wantIn: `"content":"It is made."`,
	},
	{
		api: "gemini", path: "/v1beta/models/m:streamGenerateContent",
		prompt: `{"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[{"role":"user","parts":[{"text":"make it"}]}]}`,
		result: `{"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[{"role":"user","parts":[{"text":"make it"}]},
			{"role":"model","parts":[{"text":"I will."},{"functionCall":{"name":"run_shell_command","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":"done"}}]}]}`,
		wantCall: `"args":{"command":"touch made"`, wantIn: `"text":"It is made."`,
	},
}

func TestFormats(t *testing.T) {
	for _, f := range formats {
		t.Run(f.api, func(t *testing.T) {
			s := Start(t, Script{Prompt: "make it", Turns: []Turn{{Text("I will."), Bash("touch made")}, {Text("It is made.")}}})
			first := read(t, post(t, s, f.path, f.prompt).Body)
			if !strings.Contains(first, "I will.") || !strings.Contains(first, f.wantCall) {
				t.Errorf("first answer, want %s: %s", f.wantCall, first)
			}
			if second := read(t, post(t, s, f.path, f.result).Body); !strings.Contains(second, f.wantIn) {
				t.Errorf("second answer, want %s: %s", f.wantIn, second)
			}
			requests := s.Requests()
			if got := requests[0]; got.API != f.api || got.Model != "m" || !got.Stream {
				t.Errorf("first request: %+v", got)
			}
			var text, call string
			for _, m := range requests[1].Messages {
				text += m.Role + ": " + m.Text + "\n"
				call += m.Call
			}
			want := "user: make it\nassistant: I will.\n" + "tool: done\n"
			if diff := cmp.Diff(want, plain(text)); diff != "" || call == "" {
				t.Errorf("second request, call %q: %s", call, diff)
			}
		})
	}
}

// plain drops what differs between the formats: a message of its own for a call, quotes around a result.
func plain(conversation string) string {
	return strings.NewReplacer("assistant: \n", "", `"`, "").Replace(conversation)
}

func TestSideRequestsAreNotTheConversation(t *testing.T) {
	s := Start(t)
	if got := read(t, post(t, s, "/v1/messages", `{"messages":[{"role":"user","content":"a title, please"}]}`).Body); !strings.Contains(got, "A title") {
		t.Errorf("got %s", got)
	}
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("remembered: %+v", got)
	}
}
