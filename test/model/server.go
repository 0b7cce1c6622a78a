// Package model is a language model that agent CLIs talk to in tests: it listens on loopback, speaks the wire formats of
// the real services, answers from a script, and remembers what it was asked.
//
// Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini generateContent are spoken on one address.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

const (
	// maxBody bounds one request body, in bytes.
	maxBody = 32 << 20
	// maxRequests bounds the requests remembered and answered in one test.
	maxRequests = 1000
)

// A Server answers on 127.0.0.1 until its test ends. It is safe for concurrent use.
type Server struct {
	// URL is the server's root, http://127.0.0.1:PORT, without a slash at its end.
	URL string

	mu       sync.Mutex
	scripts  []Script
	requests []Request
	problems []string
}

// Start starts a server with these scripts. When the test ends it closes every open answer, and fails the test if a
// request came that it could not read or for which no script was there.
func Start(t testing.TB, scripts ...Script) *Server {
	t.Helper()
	s := &Server{scripts: scripts}
	mux := http.NewServeMux()
	s.routeAnthropic(mux)
	s.routeResponses(mux)
	s.routeChat(mux)
	s.routeGemini(mux)
	mux.HandleFunc("/", s.unknown)
	srv := httptest.NewServer(http.MaxBytesHandler(mux, maxBody))
	s.URL = srv.URL
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		for _, p := range s.problems {
			t.Errorf("model: %s", p)
		}
	})
	return s
}

// Add adds scripts. A newer script wins over an older one for the same prompt.
func (s *Server) Add(scripts ...Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts = append(s.scripts, scripts...)
}

// Requests returns the requests of conversations so far, oldest first, without the CLIs' own side requests (titles,
// topics, token counts).
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// answer picks the turn for a request and remembers the request.
func (s *Server) answer(r Request) (Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == maxRequests {
		return nil, s.problem("more than %d requests", maxRequests)
	}
	s.requests = append(s.requests, r)
	for i := len(s.scripts) - 1; i >= 0; i-- {
		if turn, ok := s.scripts[i].turn(r); ok {
			return turn, nil
		}
	}
	return nil, s.problem("no script answers turn %d of %q", r.turn(), r.Prompt())
}

// note records a problem, unless it is that the client has gone away, which is no problem of the server's.
func (s *Server) note(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, err.Error())
}

// problem records what went wrong; s.mu is held.
func (s *Server) problem(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	s.problems = append(s.problems, err.Error())
	return err
}

func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	// CLIs probe the root before their first request.
	if r.Method == http.MethodHead || r.URL.Path == "/" {
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	http.Error(w, s.problem("%s %s is not served: %.200s", r.Method, r.URL, body).Error(), http.StatusNotFound)
}

// serve reads one request of a wire format, and plays its turn to the format's writer.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, f format) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req, err := f.parse(r, body)
	if err != nil {
		s.mu.Lock()
		err = s.problem("%s %s: %v", r.Method, r.URL.Path, err)
		s.mu.Unlock()
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	turn := Turn{Text(f.side)}
	if !req.Side {
		turn, err = s.answer(req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply := f.reply(w, req)
	for _, p := range turn {
		if err := play(r.Context(), reply, req, p); err != nil {
			s.note(err)
			return
		}
	}
	reply.end()
}

func play(ctx context.Context, reply reply, req Request, p Part) error {
	switch p := p.(type) {
	case Text:
		reply.text(string(p))
	case Bash:
		tool, input, err := req.shell(string(p))
		if err != nil {
			return err
		}
		reply.call(tool, input)
	case *Gate:
		return p.wait(ctx)
	}
	return nil
}

// A format is one service's wire format.
type format struct {
	parse func(*http.Request, []byte) (Request, error)
	reply func(http.ResponseWriter, Request) reply
	// side answers what its CLI asks for itself.
	side string
}

// A reply writes one answer in a wire format, as a stream or, at its end, in one piece.
type reply interface {
	text(string)
	call(tool string, input json.RawMessage)
	end()
}
