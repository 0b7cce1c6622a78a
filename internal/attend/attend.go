// Package attend gives running sessions what they are owed: the messages that
// wait for them, and an end when they have been idle for as long as their user
// said. The sweep calls it; `agent-sessions send` uses its hands.
package attend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentwrap/internal/deliver"
	"agentwrap/internal/host"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/runstore"
	"agentwrap/internal/runtimes"
)

// Attendant is what sessions are attended with.
type Attendant struct {
	Sources observe.Sources
	Runs    *runstore.FileStore
	// IdleExit are the users' defaults, by runtime.
	IdleExit map[string]time.Duration
}

// Report is what was done, each by the session's id.
type Report struct {
	// Delivered are sessions into which a message was typed, Ended those that
	// had been idle for long enough.
	Delivered []string `json:"delivered"`
	Ended     []string `json:"ended"`
	Failed    []string `json:"failed"`
}

// Run attends to every session that has messages waiting or may end when it is
// idle. It may run beside itself: a message goes out once.
func (a Attendant) Run(ctx context.Context) (Report, error) {
	r := Report{Delivered: []string{}, Ended: []string{}, Failed: []string{}}
	owed, err := a.Runs.Attended()
	if err != nil || len(owed) == 0 && len(a.IdleExit) == 0 {
		return r, err
	}
	view, err := observe.All(ctx, a.Sources, observe.Want{Clients: true})
	if err != nil {
		return r, fmt.Errorf("attend to the sessions: %w", err)
	}
	for _, s := range view.Sessions {
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		known := slices.Contains(owed, s.Entry.LedgerID)
		if _, usual := a.IdleExit[s.Entry.Runtime]; s.State.Alive() && (known || usual) {
			a.attend(ctx, s, &r)
		}
	}
	return r, nil
}

func (a Attendant) attend(ctx context.Context, s *observe.Session, r *Report) {
	id := s.Entry.LedgerID
	delivered, err := a.handOver(ctx, s)
	if delivered {
		r.Delivered = append(r.Delivered, id)
	}
	if err == nil && !delivered {
		var ended bool
		if ended, err = a.endIdle(ctx, s); ended {
			r.Ended = append(r.Ended, id)
		}
	}
	if err != nil {
		r.Failed = append(r.Failed, fmt.Sprintf("session %s: %v", id, err))
	}
}

// handOver types the next message that waits for a session, or for one that it
// continues, where it may be typed now.
func (a Attendant) handOver(ctx context.Context, s *observe.Session) (delivered bool, err error) {
	if ledger.Value(s.Turn) == ledger.TurnIts && runtimes.For(s.Entry.Runtime).StopHook || ledger.Value(s.Entry.HostSocket) == "" {
		return false, nil
	}
	desk := deliver.Desk{Store: a.Runs, Now: a.Sources.Now}
	lineage := a.Sources.Store.Lineage(s.Entry)
	for _, id := range slices.Backward(lineage) {
		typing := TypingFor(a.Sources.Store, s)
		typing.SessionID = id
		_, fate, err := desk.Type(ctx, typing)
		if errors.Is(err, deliver.ErrNotNow) {
			return false, nil
		}
		if err != nil || fate != deliver.Nothing {
			return err == nil, err
		}
	}
	return false, nil
}

// TypingFor is how a message is typed into a hosted session.
func TypingFor(store *ledger.Store, s *observe.Session) deliver.Typing {
	socket := ledger.Value(s.Entry.HostSocket)
	return deliver.Typing{
		SessionID: s.Entry.LedgerID, Prompt: runtimes.For(s.Entry.Runtime).Prompt, Unsure: s.Turn == nil,
		Transcript: func() string {
			row, err := store.Read(s.Entry.LedgerID)
			if err != nil {
				row = s.Entry
			}
			return ledger.Value(row.TranscriptPath)
		},
		Terminal: deliver.Terminal{
			Picture: func() ([]byte, int, int, error) { return picture(socket) },
			Type:    func(keys []byte) error { return host.Type(socket, keys) },
		},
	}
}

// picture is what draws a hosted session's screen. Where nobody keeps the screen
// it cannot be told what stands at the prompt.
func picture(socket string) (picture []byte, columns, rows int, err error) {
	status, err := host.Ask(socket)
	if err == nil && !status.Mirrored {
		err = fmt.Errorf("%w: its screen is not kept anywhere", deliver.ErrNotNow)
	}
	if err != nil {
		return nil, 0, 0, err
	}
	picture, err = host.Peek(socket)
	return picture, int(status.Size.Columns), int(status.Size.Rows), err
}
