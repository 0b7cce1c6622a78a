package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// routeAnthropic serves the Messages API as Claude Code uses it.
func (s *Server) routeAnthropic(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, format{parseAnthropic, newAnthropicReply, `{"title":"A title"}`})
	})
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, r *http.Request) {
		sendJSON(w, object{"input_tokens": 100})
	})
}

func parseAnthropic(_ *http.Request, body []byte) (Request, error) {
	var in struct {
		Model    string
		Stream   bool
		Tools    []struct{ Name string }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{API: "anthropic", Model: in.Model, Stream: in.Stream, Raw: body}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Name)
	}
	req.Side = len(req.Tools) == 0
	for _, m := range in.Messages {
		message, err := anthropicMessage(m.Role, m.Content)
		if err != nil {
			return Request{}, err
		}
		req.Messages = append(req.Messages, message)
	}
	return req, nil
}

// anthropicMessage reads one message; a user message that carries a tool's result has the role tool.
func anthropicMessage(role string, content json.RawMessage) (Message, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return Message{Role: role, Text: text}, nil
	}
	var blocks []struct {
		Type, Text, Name string
		Content          json.RawMessage
	}
	if err := json.Unmarshal(content, &blocks); err != nil {
		return Message{}, fmt.Errorf("content of a %s message: %w", role, err)
	}
	m := Message{Role: role}
	var texts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_use":
			m.Call = b.Name
		case "tool_result":
			m.Role = "tool"
			result, err := anthropicMessage(role, b.Content)
			if err != nil {
				return Message{}, err
			}
			texts = append(texts, result.Text)
		}
	}
	m.Text = strings.Join(texts, "\n")
	return m, nil
}

// anthropicReply sends each block as it comes when streaming, and collects the blocks for the end when not.
type anthropicReply struct {
	w      http.ResponseWriter
	events *events
	model  string
	blocks []object
	open   bool
	reason string
}

func newAnthropicReply(w http.ResponseWriter, r Request) reply {
	a := &anthropicReply{w: w, model: r.Model, reason: "end_turn"}
	if r.Stream {
		e := newEvents(w)
		a.events = &e
		a.send("message_start", object{"message": a.message(object{"input_tokens": 100, "output_tokens": 1})})
	}
	return a
}

func (a *anthropicReply) message(usage object) object {
	blocks := a.blocks
	if blocks == nil {
		blocks = []object{}
	}
	return object{"id": newID("msg_"), "type": "message", "role": "assistant", "model": a.model, "content": blocks,
		"stop_reason": nil, "stop_sequence": nil, "usage": usage}
}

func (a *anthropicReply) send(name string, data object) {
	if a.events == nil {
		return
	}
	data["type"] = name
	a.events.send(name, data)
}

func (a *anthropicReply) begin(block object) {
	a.close()
	a.open = true
	a.blocks = append(a.blocks, block)
	a.send("content_block_start", object{"index": len(a.blocks) - 1, "content_block": block})
}

func (a *anthropicReply) delta(delta object) {
	a.send("content_block_delta", object{"index": len(a.blocks) - 1, "delta": delta})
}

func (a *anthropicReply) close() {
	if a.open {
		a.open = false
		a.send("content_block_stop", object{"index": len(a.blocks) - 1})
	}
}

func (a *anthropicReply) text(s string) {
	if !a.open {
		a.begin(object{"type": "text", "text": ""})
	}
	a.delta(object{"type": "text_delta", "text": s})
	block := a.blocks[len(a.blocks)-1]
	block["text"] = block["text"].(string) + s
}

func (a *anthropicReply) call(tool string, input json.RawMessage) {
	block := object{"type": "tool_use", "id": newID("toolu_"), "name": tool, "input": object{}}
	a.begin(block)
	a.delta(object{"type": "input_json_delta", "partial_json": string(input)})
	block["input"] = input
	a.reason = "tool_use"
}

func (a *anthropicReply) end() {
	a.close()
	usage := object{"input_tokens": 100, "output_tokens": 20}
	if a.events == nil {
		message := a.message(usage)
		message["stop_reason"] = a.reason
		sendJSON(a.w, message)
		return
	}
	a.send("message_delta", object{"delta": object{"stop_reason": a.reason, "stop_sequence": nil}, "usage": usage})
	a.send("message_stop", object{})
}
