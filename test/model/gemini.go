package model

import (
	"encoding/json"
	"net/http"
	"strings"
)

// routeGemini serves generateContent and its like as the Gemini CLI uses them.
func (s *Server) routeGemini(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1beta/models/{call}", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.PathValue("call"), ":countTokens") {
			sendJSON(w, object{"totalTokens": 100})
			return
		}
		s.serve(w, r, format{parseGemini, newGeminiReply, `{"complexity_reasoning":"plain","complexity_score":1}`})
	})
}

func parseGemini(r *http.Request, body []byte) (Request, error) {
	var in struct {
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
		Contents []struct {
			Role  string
			Parts []geminiPart
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	name, method, _ := strings.Cut(r.PathValue("call"), ":")
	req := Request{API: "gemini", Model: name, Stream: method == "streamGenerateContent", Raw: body}
	for _, t := range in.Tools {
		for _, d := range t.FunctionDeclarations {
			req.Tools = append(req.Tools, d.Name)
		}
	}
	req.Side = len(req.Tools) == 0
	for _, c := range in.Contents {
		req.Messages = append(req.Messages, geminiMessage(c.Role, c.Parts))
	}
	return req, nil
}

type geminiPart struct {
	Text             string
	FunctionCall     *struct{ Name string }
	FunctionResponse *struct{ Response json.RawMessage }
}

func geminiMessage(role string, parts []geminiPart) Message {
	m := Message{Role: role}
	if role == "model" {
		m.Role = "assistant"
	}
	var texts []string
	for _, p := range parts {
		switch {
		case p.FunctionCall != nil:
			m.Call = p.FunctionCall.Name
		case p.FunctionResponse != nil:
			m.Role = "tool"
			texts = append(texts, string(p.FunctionResponse.Response))
		default:
			texts = append(texts, p.Text)
		}
	}
	m.Text = strings.Join(texts, "\n")
	return m
}

// geminiReply sends each part as it comes when streaming, and collects the parts for the end when not.
type geminiReply struct {
	w      http.ResponseWriter
	events *events
	parts  []object
}

func newGeminiReply(w http.ResponseWriter, r Request) reply {
	a := &geminiReply{w: w}
	if r.Stream {
		e := newEvents(w)
		a.events = &e
	}
	return a
}

func (a *geminiReply) add(part object) {
	if a.events != nil {
		a.events.send("", geminiCandidate([]object{part}, ""))
		return
	}
	a.parts = append(a.parts, part)
}

func geminiCandidate(parts []object, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{"candidates": []object{candidate},
		"usageMetadata": object{"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}}
}

func (a *geminiReply) text(s string) { a.add(object{"text": s}) }

func (a *geminiReply) call(tool string, input json.RawMessage) {
	a.add(object{"functionCall": object{"name": tool, "args": input}})
}

func (a *geminiReply) end() {
	if a.events != nil {
		a.events.send("", geminiCandidate([]object{{"text": ""}}, "STOP"))
		return
	}
	sendJSON(a.w, geminiCandidate(a.parts, "STOP"))
}
