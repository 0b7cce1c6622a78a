package deliver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentwrap/internal/runstore"
	"agentwrap/internal/runtimes"
	"agentwrap/internal/screen"
)

// Terminal is a hosted session's own.
type Terminal struct {
	// Picture is what draws its screen, on a terminal of that many columns and
	// rows.
	Picture func() (picture []byte, columns, rows int, err error)
	// Type gives the CLI bytes as if they were typed.
	Type func([]byte) error
}

// Typing is one message typed into one session.
type Typing struct {
	SessionID string
	// Transcript is the conversation's file now, "" where it is not known.
	Transcript func() string
	Prompt     runtimes.Prompt
	Terminal   Terminal
	// Now types even while the CLI works.
	Now bool
	// Unsure tells that nobody says whether the CLI works: then its screen must
	// stand still.
	Unsure bool

	pace pace
}

// ErrNotNow is wrapped by the error for a session into which nothing may be typed
// at this moment. What waits goes on waiting.
var ErrNotNow = errors.New("nothing can be typed into it now")

// pace is how long each step of typing may take before it is given up, and the
// pauses between.
type pace struct {
	paste, enter, seen time.Duration
	// look is between two looks at the screen, again between two Enters: some CLIs
	// lose the one that comes while they draw.
	look, again time.Duration
	// rest is between a paste and the first Enter.
	rest time.Duration
	// drawn is longer than a CLI takes to draw its prompt anew, still longer than a
	// working CLI's clock or spinner stands still.
	drawn, still time.Duration
}

var usualPace = pace{
	paste: 10 * time.Second, enter: 10 * time.Second, seen: 5 * time.Second,
	look: 40 * time.Millisecond, again: 600 * time.Millisecond,
	rest:  500 * time.Millisecond,
	drawn: 400 * time.Millisecond, still: 1500 * time.Millisecond,
}

// Keys, as a terminal sends them.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	enter      = "\r"
)

// Fate is what became of a message that was typed.
type Fate int

const (
	// Nothing was typed: none waits, or one is on its way.
	Nothing Fate = iota
	// Typed: the prompt took it, and nothing shows yet that it arrived.
	Typed
	// Taken: the prompt took it, and nothing of this session ever shows more.
	Taken
	// Delivered: it stands in the conversation.
	Delivered
)

// Type types the next message of a session at its prompt and sends it, where
// the prompt is empty and the CLI idle, else ErrNotNow. One that stands at the
// prompt already, since whoever typed it was cut short, is only sent.
func (d Desk) Type(ctx context.Context, t Typing) (m runstore.Message, fate Fate, err error) {
	if t.pace == (pace{}) {
		t.pace = usualPace
	}
	if err := d.Settle(Moment{SessionID: t.SessionID, Transcript: t.Transcript()}, false); err != nil {
		return m, Nothing, err
	}
	queue, err := d.Store.Queue(t.SessionID)
	if err != nil || len(queue) == 0 {
		return m, Nothing, err
	}
	if m, ok, err := t.standing(queue); ok || err != nil {
		return d.send(ctx, t, m, err)
	}
	if next(queue) < 0 {
		return m, Nothing, nil
	}
	if err := t.mayType(ctx); err != nil {
		return m, Nothing, err
	}
	m, ok, err := d.offerTyped(t)
	if err != nil || !ok {
		return m, Nothing, err
	}
	return d.send(ctx, t, m, t.paste(ctx, typed(m.Text)))
}

// standing is the message that was typed and stands at the prompt.
func (t Typing) standing(queue []runstore.Queued) (m runstore.Message, ok bool, err error) {
	for _, q := range queue {
		if q.OfferedBy == runstore.WayTyped {
			if ok, _, err = t.shows(typed(q.Text)); ok || err != nil {
				return q.Message, ok, err
			}
		}
	}
	return m, false, nil
}

// send sends what stands at the prompt and looks what becomes of it. before is
// what went wrong until then.
func (d Desk) send(ctx context.Context, t Typing, m runstore.Message, before error) (runstore.Message, Fate, error) {
	taken := false
	if before == nil {
		taken, before = t.enter(ctx, typed(m.Text))
	}
	if before != nil {
		return m, Nothing, fmt.Errorf("type %s: %w", m.ID, before)
	}
	if taken && t.Unsure && t.Transcript() == "" {
		return m, Taken, d.take(t.SessionID, m)
	}
	if d.arrives(ctx, t, m) {
		return m, Delivered, nil
	}
	return m, Typed, nil
}

// take takes a message out of the queue that the prompt took.
func (d Desk) take(sessionID string, m runstore.Message) error {
	_, err := d.Store.DropMessage(sessionID, m.ID)
	if errors.Is(err, runstore.ErrNoMessage) {
		return nil // a hook at the same time saw it in the conversation first
	}
	if err != nil {
		return err
	}
	d.write(sessionID, journal{{ID: m.ID, Type: runstore.EventQueue, Phase: "taken"}})
	return nil
}

// mayType looks at the prompt twice: a screen that is being drawn anew shows for
// a moment what is not so, and a CLI that works moves it.
func (t Typing) mayType(ctx context.Context) error {
	before, err := t.promptIsFree()
	if err != nil {
		return err
	}
	pause := t.pace.drawn
	if t.Unsure && !t.Now {
		pause = t.pace.still
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
	}
	after, err := t.promptIsFree()
	if err == nil && t.Unsure && !t.Now && !bytes.Equal(before, after) {
		err = fmt.Errorf("%w: its screen moves", ErrNotNow)
	}
	return err
}

// promptIsFree fails with ErrNotNow where the prompt is not empty, or the CLI
// works; it returns the picture.
func (t Typing) promptIsFree() (picture []byte, err error) {
	prompt, picture, err := t.look()
	switch {
	case err != nil, prompt == Empty, prompt == Busy && t.Now:
		return picture, err
	case prompt == Busy:
		return nil, fmt.Errorf("%w: it works", ErrNotNow)
	case prompt == Draft:
		return nil, fmt.Errorf("%w: something stands at its prompt that was not sent, or it asks a question", ErrNotNow)
	}
	return nil, fmt.Errorf("%w: its screen shows no prompt", ErrNotNow)
}

// Look tells what a session's screen says of its prompt.
func Look(t Typing) (Prompt, error) {
	prompt, _, err := t.look()
	return prompt, err
}

func (t Typing) look() (Prompt, []byte, error) {
	picture, columns, rows, err := t.Terminal.Picture()
	if err != nil {
		return Elsewhere, nil, err
	}
	s := screen.Play(picture, columns, rows)
	defer s.Close()
	return ReadPrompt(s, t.Prompt), picture, nil
}

// offerTyped marks the next message as offered; ok is false where another was
// faster.
func (d Desk) offerTyped(t Typing) (m runstore.Message, ok bool, err error) {
	err = d.Store.UpdateQueue(t.SessionID, func(queue []runstore.Queued) ([]runstore.Queued, error) {
		at := next(queue)
		if ok = at >= 0; ok {
			d.offer(&queue[at], runstore.WayTyped, t.Transcript())
			m = queue[at].Message
		}
		return queue, nil
	})
	if ok && err == nil {
		d.write(t.SessionID, journal{{ID: m.ID, Type: runstore.EventQueue, Phase: "offered"}})
	}
	return m, ok, err
}

// paste types a text and waits until it stands at the prompt.
func (t Typing) paste(ctx context.Context, text string) error {
	if err := t.Terminal.Type([]byte(pasteBegin + text + pasteEnd)); err != nil {
		return err
	}
	stood, err := t.watch(ctx, t.pace.paste, func() (bool, error) {
		stands, _, err := t.shows(text)
		return stands, err
	})
	if err == nil && !stood {
		err = errors.New("it does not show at the prompt")
	}
	if err == nil {
		// Some CLIs take an Enter right behind a paste for a part of it.
		_, err = t.watch(ctx, t.pace.rest, func() (bool, error) { return false, nil })
	}
	return err
}

// enter sends what stands at the prompt; taken tells that an empty prompt, or a
// CLI at work, was seen after it. Enter is only pressed while the text stands
// there: whatever else is on the screen by then may be a question, which Enter
// would answer.
func (t Typing) enter(ctx context.Context, text string) (taken bool, err error) {
	var pressed, since time.Time
	stood := true
	taken, err = t.watch(ctx, t.pace.enter, func() (bool, error) {
		var prompt Prompt
		var err error
		if stood, prompt, err = t.shows(text); err != nil {
			return false, err
		}
		switch free := !stood && (prompt == Empty || prompt == Busy); {
		case !free:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > t.pace.drawn:
			return true, nil
		}
		if !stood || time.Since(pressed) < t.pace.again {
			return false, nil
		}
		pressed = time.Now()
		return false, t.Terminal.Type([]byte(enter))
	})
	if err == nil && !taken && stood {
		err = errors.New("it stands at the prompt and is not taken")
	}
	return taken, err
}

// watch looks again and again until something is seen, at most so long.
func (t Typing) watch(ctx context.Context, wait time.Duration, see func() (bool, error)) (seen bool, err error) {
	limit := time.After(wait)
	for {
		if seen, err := see(); seen || err != nil {
			return seen, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-limit:
			return false, nil
		case <-time.After(t.pace.look):
		}
	}
}

// shows tells whether a text stands at the prompt, and what else the screen says
// of that.
func (t Typing) shows(text string) (bool, Prompt, error) {
	picture, columns, rows, err := t.Terminal.Picture()
	if err != nil {
		return false, Elsewhere, err
	}
	s := screen.Play(picture, columns, rows)
	defer s.Close()
	row := s.Row
	if row > 0 && s.Solid(row) == "" {
		row-- // a line break came behind it
	}
	return stands(s.Solid(row), text, t.Prompt), ReadPrompt(s, t.Prompt), nil
}

// arrives waits until a message stands in the transcript.
func (d Desk) arrives(ctx context.Context, t Typing, m runstore.Message) bool {
	arrived, err := t.watch(ctx, t.pace.seen, func() (bool, error) {
		if err := d.Settle(Moment{SessionID: t.SessionID, Transcript: t.Transcript()}, false); err != nil {
			return false, err
		}
		queue, err := d.Store.Queue(t.SessionID)
		return !holdsMessage(queue, m.ID), err
	})
	return arrived && err == nil
}

func holdsMessage(queue []runstore.Queued, id string) bool {
	for _, q := range queue {
		if q.ID == id {
			return true
		}
	}
	return false
}

// typed is a text as it may be typed: nothing in it ends the paste or is a key.
func typed(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, plain(text))
}
