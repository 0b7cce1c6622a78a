package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Request is what a CLI asked, the same whatever its wire format.
type Request struct {
	// API is the wire format's name: anthropic, responses, chat or gemini.
	API string
	// Model is the model asked for.
	Model string
	// Messages are the turns of the conversation so far, oldest first.
	Messages []Message
	// Tools are the names of the tools offered.
	Tools []string
	// Stream tells whether the answer was wanted piece by piece.
	Stream bool
	// Side tells that the CLI asked for itself (a title, a route), not for the user: no tools are offered.
	Side bool
	// Raw is the body as it came.
	Raw []byte
}

// A Message is one turn of a conversation.
type Message struct {
	// Role is user, assistant or tool.
	Role string
	// Text is the text of the message, its pieces joined by newlines. For the role tool it is the result.
	Text string
	// Call is the name of the tool called, if any.
	Call string
}

// Prompt returns the last user message's text, or "".
func (r Request) Prompt() string {
	if i := r.lastPrompt(); i >= 0 {
		return r.Messages[i].Text
	}
	return ""
}

// Text returns the whole conversation as one text, for finding what a request held.
func (r Request) Text() string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text)
	}
	return b.String()
}

func (r Request) lastPrompt() int {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return i
		}
	}
	return -1
}

// turn counts the assistant's turns since the last prompt. Some wire formats split one turn into several messages.
func (r Request) turn() int {
	n := 0
	for i := r.lastPrompt() + 1; i < len(r.Messages); i++ {
		if r.Messages[i].Role == "assistant" && (i == 0 || r.Messages[i-1].Role != "assistant") {
			n++
		}
	}
	return n
}

func (s Script) turn(r Request) (Turn, bool) {
	if n := r.turn(); strings.Contains(r.Prompt(), s.Prompt) && n < len(s.Turns) {
		return s.Turns[n], true
	}
	return nil, false
}

// shellTools are the CLIs' shell tools and how each takes a command.
var shellTools = map[string]func(command string) any{
	"Bash":              func(c string) any { return map[string]string{"command": c, "description": "Run a command"} },
	"bash":              func(c string) any { return map[string]string{"command": c, "description": "Run a command"} },
	"run_shell_command": func(c string) any { return map[string]string{"command": c, "description": "Run a command"} },
	"exec_command":      func(c string) any { return map[string]string{"cmd": c} },
	"shell_command":     func(c string) any { return map[string]string{"command": c} },
	"shell":             func(c string) any { return map[string][]string{"command": {"bash", "-c", c}} },
}

// shell returns the call of the offered shell tool that runs a command.
func (r Request) shell(command string) (tool string, input json.RawMessage, err error) {
	for _, t := range r.Tools {
		if arguments := shellTools[t]; arguments != nil {
			return t, encode(arguments(command)), nil
		}
	}
	return "", nil, fmt.Errorf("no shell tool for %q among %v", command, r.Tools)
}
