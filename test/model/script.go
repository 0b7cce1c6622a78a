package model

import (
	"context"
	"sync"
)

// A Script is what the model answers to one prompt. It applies to every conversation whose last user message holds
// Prompt; the number of assistant messages since then selects the turn, so that a repeated request gets the same one.
type Script struct {
	Prompt string
	Turns  []Turn
}

// A Turn is one answer of the model: pieces of text, at most one tool call as the last part, and gates between them.
type Turn []Part

// A Part is one of [Text], [Bash] and [*Gate].
type Part interface{ part() }

// Text is a piece of an answer, sent as one event of the stream.
type Text string

// Bash is a call of the CLI's own shell tool, whatever its name there, with this command.
type Bash string

func (Text) part()  {}
func (Bash) part()  {}
func (*Gate) part() {}

// A Gate holds an answer in mid-stream until it is opened. It stays open then.
type Gate struct {
	reached, opened         chan struct{}
	reachedOnce, openedOnce sync.Once
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{reached: make(chan struct{}), opened: make(chan struct{})}
}

// Reached is closed once an answer stands at the gate, everything before it sent.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Open lets every answer pass.
func (g *Gate) Open() { g.openedOnce.Do(func() { close(g.opened) }) }

func (g *Gate) wait(ctx context.Context) error {
	g.reachedOnce.Do(func() { close(g.reached) })
	select {
	case <-g.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Say is a script of one answer: the text, in one piece.
func Say(prompt, text string) Script {
	return Script{Prompt: prompt, Turns: []Turn{{Text(text)}}}
}
