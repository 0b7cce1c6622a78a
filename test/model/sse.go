package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// events writes server-sent events, each flushed at once.
type events struct{ w http.ResponseWriter }

func newEvents(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return events{w}
}

// send writes one event; without a name it is a bare data line. A client that has gone away is noticed by its context.
func (e events) send(name string, data any) {
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	fmt.Fprintf(e.w, "data: %s\n\n", encode(data))
	e.w.(http.Flusher).Flush()
}

func sendJSON(w http.ResponseWriter, data any) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(encode(data))
}

// object is a JSON object being built.
type object map[string]any

func encode(data any) []byte {
	if s, ok := data.(string); ok {
		return []byte(s)
	}
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // only values built in this package come here
	}
	return b
}

// newID returns an identifier that no other answer has.
func newID(prefix string) string {
	return prefix + strings.ReplaceAll(uuid.NewString(), "-", "")
}
