package model

import (
	"encoding/json"
	"net/http"
	"strings"
)

// routeResponses serves OpenAI's Responses API as Codex uses it.
func (s *Server) routeResponses(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/responses", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, format{parseResponses, newResponsesReply, `{"title":"A title"}`})
	})
}

func parseResponses(_ *http.Request, body []byte) (Request, error) {
	var in struct {
		Model  string
		Stream bool
		Tools  []struct{ Name, Type string }
		Input  []responsesItem
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{API: "responses", Model: in.Model, Stream: in.Stream, Raw: body}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Name)
	}
	req.Side = len(req.Tools) == 0
	for _, item := range in.Input {
		if m, ok := item.message(); ok {
			req.Messages = append(req.Messages, m)
		}
	}
	return req, nil
}

// A responsesItem is a message, a tool call, a tool's output, or something of no concern here.
type responsesItem struct {
	Type, Role, Name string
	Content          json.RawMessage
	Output           json.RawMessage
}

func (i responsesItem) message() (Message, bool) {
	switch i.Type {
	case "message", "":
		return Message{Role: i.Role, Text: textOf(i.Content)}, true
	case "function_call", "custom_tool_call":
		return Message{Role: "assistant", Call: i.Name}, true
	case "function_call_output", "custom_tool_call_output":
		return Message{Role: "tool", Text: textOf(i.Output)}, true
	}
	return Message{}, false
}

// textOf reads a string or a list of pieces with a text each; anything else is kept as it is.
func textOf(data json.RawMessage) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	var pieces []struct{ Text string }
	if json.Unmarshal(data, &pieces) != nil {
		return string(data)
	}
	var texts []string
	for _, p := range pieces {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

// responsesReply streams output items; Codex asks for nothing else.
type responsesReply struct {
	events events
	id     string
	output []object
	item   object // the open message
}

func newResponsesReply(w http.ResponseWriter, r Request) reply {
	a := &responsesReply{events: newEvents(w), id: newID("resp_")}
	a.send("response.created", object{"response": object{"id": a.id, "status": "in_progress", "model": r.Model}})
	return a
}

func (a *responsesReply) send(name string, data object) {
	data["type"] = name
	a.events.send(name, data)
}

func (a *responsesReply) text(s string) {
	if a.item == nil {
		a.item = object{"type": "message", "id": newID("msg_"), "role": "assistant", "status": "in_progress",
			"content": []object{{"type": "output_text", "text": "", "annotations": []string{}}}}
		a.send("response.output_item.added", object{"output_index": len(a.output), "item": a.item})
	}
	piece := a.item["content"].([]object)[0]
	piece["text"] = piece["text"].(string) + s
	a.send("response.output_text.delta", object{"output_index": len(a.output), "item_id": a.item["id"], "content_index": 0, "delta": s})
}

func (a *responsesReply) close() {
	if a.item != nil {
		a.done(a.item)
		a.item = nil
	}
}

func (a *responsesReply) done(item object) {
	item["status"] = "completed"
	a.send("response.output_item.done", object{"output_index": len(a.output), "item": item})
	a.output = append(a.output, item)
}

func (a *responsesReply) call(tool string, input json.RawMessage) {
	a.close()
	item := object{"type": "function_call", "id": newID("fc_"), "call_id": newID("call_"), "name": tool, "arguments": string(input)}
	a.send("response.output_item.added", object{"output_index": len(a.output), "item": item})
	a.done(item)
}

func (a *responsesReply) end() {
	a.close()
	a.send("response.completed", object{"response": object{"id": a.id, "status": "completed", "output": a.output,
		"usage": object{"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}}})
}
