package model

import (
	"encoding/json"
	"net/http"
	"strings"
)

// routeChat serves OpenAI's Chat Completions API as opencode uses it.
func (s *Server) routeChat(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, format{parseChat, newChatReply, "A title"})
	})
}

func parseChat(_ *http.Request, body []byte) (Request, error) {
	var in struct {
		Model  string
		Stream bool
		Tools  []struct {
			Function struct{ Name string }
		}
		Messages []struct {
			Role      string
			Content   json.RawMessage
			ToolCalls []struct {
				Function struct{ Name string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{API: "chat", Model: in.Model, Stream: in.Stream, Raw: body}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Function.Name)
	}
	req.Side = len(req.Tools) == 0
	for _, m := range in.Messages {
		message := Message{Role: m.Role, Text: textOf(m.Content)}
		if len(m.ToolCalls) > 0 {
			message.Call = m.ToolCalls[0].Function.Name
		}
		req.Messages = append(req.Messages, message)
	}
	return req, nil
}

// chatReply sends each delta as it comes when streaming, and collects the message for the end when not.
type chatReply struct {
	w       http.ResponseWriter
	events  *events
	id      string
	model   string
	content strings.Builder
	calls   []object
}

func newChatReply(w http.ResponseWriter, r Request) reply {
	a := &chatReply{w: w, id: newID("chatcmpl-"), model: r.Model}
	if r.Stream {
		e := newEvents(w)
		a.events = &e
		a.delta(object{"role": "assistant", "content": ""}, nil)
	}
	return a
}

func (a *chatReply) delta(delta object, finish any) {
	if a.events != nil {
		choice := object{"index": 0, "delta": delta, "finish_reason": finish}
		a.events.send("", a.envelope("chat.completion.chunk", choice))
	}
}

func (a *chatReply) envelope(kind string, choice object) object {
	return object{"id": a.id, "object": kind, "created": 0, "model": a.model, "choices": []object{choice},
		"usage": object{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}}
}

func (a *chatReply) text(s string) {
	a.content.WriteString(s)
	a.delta(object{"content": s}, nil)
}

func (a *chatReply) call(tool string, input json.RawMessage) {
	call := object{"index": len(a.calls), "id": newID("call_"), "type": "function",
		"function": object{"name": tool, "arguments": string(input)}}
	a.calls = append(a.calls, call)
	a.delta(object{"tool_calls": []object{call}}, nil)
}

func (a *chatReply) end() {
	finish := "stop"
	if a.calls != nil {
		finish = "tool_calls"
	}
	if a.events != nil {
		a.delta(object{}, finish)
		a.events.send("", "[DONE]")
		return
	}
	message := object{"role": "assistant", "content": a.content.String(), "tool_calls": a.calls}
	sendJSON(a.w, a.envelope("chat.completion", object{"index": 0, "message": message, "finish_reason": finish}))
}
