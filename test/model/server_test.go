package model

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

const bashTool = `"tools":[{"name":"Bash"}]`

func post(t *testing.T, s *Server, path, body string) *http.Response {
	t.Helper()
	resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func read(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// An answer stops at its gate, what came before it delivered, and goes on when the gate opens.
func TestGateHoldsTheStream(t *testing.T) {
	gate := NewGate()
	s := Start(t, Script{Prompt: "hello", Turns: []Turn{{Text("before"), gate, Text("after")}}})
	resp := post(t, s, "/v1/messages", `{"stream":true,`+bashTool+`,"messages":[{"role":"user","content":"say hello"}]}`)
	<-gate.Reached()
	stream := bufio.NewReader(resp.Body)
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended before the gate: %v", err)
		}
		if strings.Contains(line, "before") {
			break
		}
	}
	gate.Open()
	if rest := read(t, stream); !strings.Contains(rest, "after") || !strings.Contains(rest, "message_stop") {
		t.Errorf("behind the gate: %s", rest)
	}
}

// A test that ends while an answer stands at a gate ends the answer.
func TestServerEndsHeldAnswers(t *testing.T) {
	var body io.Reader
	t.Run("held", func(t *testing.T) {
		gate := NewGate()
		s := Start(t, Script{Prompt: "hello", Turns: []Turn{{Text("before"), gate}}})
		resp, err := http.Post(s.URL+"/v1/messages", "", strings.NewReader(`{"stream":true,`+bashTool+`,"messages":[{"role":"user","content":"hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		body = resp.Body
		<-gate.Reached()
	})
	if data, err := io.ReadAll(body); err == nil {
		t.Errorf("the held answer ended as if it were whole: %s", data)
	}
}

func TestTurnFollowsTheConversation(t *testing.T) {
	s := Start(t, Script{Prompt: "make it", Turns: []Turn{{Bash("touch made")}, {Text("made")}}})
	const prompt = `{"role":"user","content":[{"type":"text","text":"make it"}]}`
	first := read(t, post(t, s, "/v1/messages", fmt.Sprintf(`{%s,"messages":[%s]}`, bashTool, prompt)).Body)
	if !strings.Contains(first, `"command":"touch made"`) || !strings.Contains(first, `"stop_reason":"tool_use"`) {
		t.Errorf("first turn: %s", first)
	}
	second := read(t, post(t, s, "/v1/messages", fmt.Sprintf(`{%s,"messages":[%s,
		{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"Bash","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"(no output)"}]}]}`, bashTool, prompt)).Body)
	if !strings.Contains(second, `"text":"made"`) {
		t.Errorf("second turn: %s", second)
	}
	if got, want := s.Requests()[1].Text(), "user: make it\nassistant: \ntool: (no output)\n"; got != want {
		t.Errorf("conversation: got %q, want %q", got, want)
	}
}

func TestProblemsAreRemembered(t *testing.T) {
	s := Start(t)
	for _, tt := range []struct{ path, body string }{
		{"/v1/messages", `{` + bashTool + `,"messages":[{"role":"user","content":"unknown"}]}`},
		{"/v1/messages", `{`},
		{"/v9/unknown", ``},
	} {
		if resp := post(t, s, tt.path, tt.body); resp.StatusCode < 400 {
			t.Errorf("%s %s: status %d", tt.path, tt.body, resp.StatusCode)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.problems) != 3 {
		t.Errorf("problems: %q", s.problems)
	}
	s.problems = nil
}
