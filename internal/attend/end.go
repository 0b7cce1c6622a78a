package attend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"agentwrap/internal/deliver"
	"agentwrap/internal/host"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/process"
	"agentwrap/internal/runstore"
	"agentwrap/internal/runtimes"
	"agentwrap/internal/stop"
)

// politeWait is how long a CLI may take to end after its own command to.
const politeWait = 5 * time.Second

// endIdle looks at a session that may end when it is idle, and ends it when it
// has been so for long enough.
func (a Attendant) endIdle(ctx context.Context, s *observe.Session) (ended bool, err error) {
	id := s.Entry.LedgerID
	policy, found, err := a.Runs.ReadIdlePolicy(id)
	if err != nil {
		return false, err
	}
	if usual, ok := a.IdleExit[s.Entry.Runtime]; !found && ok {
		policy = runstore.IdlePolicy{ExitOnIdle: true, IdleTimeout: usual}
	}
	if !policy.ExitOnIdle {
		return false, nil
	}
	known, err := runstore.Recall[memory](a.Runs, id, memoryName)
	if err != nil {
		return false, err
	}
	seen, verdict, why := Judge(known.Seen, a.sample(s), policy.IdleTimeout, a.Sources.Now())
	next := memory{Seen: seen, Said: a.log(id, known.Said, verdict, why)}
	if err := runstore.Remember(a.Runs, id, memoryName, next); err != nil {
		return false, err
	}
	if verdict != End {
		return false, nil
	}
	return true, a.end(ctx, s)
}

// memory is what is remembered of a session between two looks.
type memory struct {
	Seen []Seen `json:"seen"`
	// Said is the last decision that the log has.
	Said string `json:"said"`
}

const memoryName = ".idle.json"

// log writes each decision into the session's log that is not the last one
// again, and returns what it is remembered by.
func (a Attendant) log(id, said string, v Verdict, why string) string {
	phase := map[Verdict]string{Wait: "idle", Keep: "kept", End: "end"}[v]
	say := phase
	if v == Keep {
		say += " " + why
	}
	if say != said {
		// The log is information: what cannot be written is not.
		_ = a.Runs.AppendEvent(id, runstore.Event{Type: runstore.EventIdle, Phase: phase, Text: why})
	}
	return say
}

// sample looks at one session. What cannot be told keeps it.
func (a Attendant) sample(s *observe.Session) Sample {
	var sample Sample
	if path := ledger.Value(s.Entry.TranscriptPath); path != "" {
		if st, err := os.Stat(path); err == nil {
			sample.Size, sample.Changed = st.Size(), st.ModTime()
		}
	}
	sample.Why = a.keeps(s)
	return sample
}

// keeps is why a session is not idle, "" where it is.
func (a Attendant) keeps(s *observe.Session) string {
	socket := ledger.Value(s.Entry.HostSocket)
	queue, err := a.Runs.Queue(s.Entry.LedgerID)
	switch {
	case socket == "":
		return "it is not hosted"
	case s.Attached == nil:
		return "whether a terminal is attached is not known"
	case *s.Attached:
		return "a terminal is attached"
	case ledger.Value(s.Turn) == ledger.TurnIts:
		return "it is its turn"
	case err != nil:
		return err.Error()
	case len(queue) > 0:
		return "a message waits"
	}
	prompt, err := deliver.Look(TypingFor(a.Sources.Store, s))
	switch {
	case err != nil:
		return err.Error()
	case prompt == deliver.Busy:
		return "it works"
	case prompt != deliver.Empty:
		return "its prompt is not empty, or it asks a question"
	}
	return ""
}

// end ends a session: once by the CLI's own command, then as any other.
func (a Attendant) end(ctx context.Context, s *observe.Session) error {
	if quit := runtimes.For(s.Entry.Runtime).Quit; quit != "" {
		if err := a.ask(ctx, s, quit); err != nil {
			return err
		}
	}
	if alive, err := s.Process.Alive(); err == nil && !alive {
		return nil
	}
	order := stop.Order{Grace: stop.DefaultGrace}
	_, err := stop.Session(ctx, a.Sources.Store, s.Entry, s.Process, order)
	if errors.Is(err, stop.ErrGone) {
		return nil
	}
	return err
}

// ask types the command once, ever, and waits for the end.
func (a Attendant) ask(ctx context.Context, s *observe.Session, quit string) error {
	asked, err := runstore.Recall[bool](a.Runs, s.Entry.LedgerID, askedName)
	if err != nil || asked {
		return err
	}
	if err := runstore.Remember(a.Runs, s.Entry.LedgerID, askedName, true); err != nil {
		return err
	}
	socket := ledger.Value(s.Entry.HostSocket)
	// A pause between the two, as a typist makes: Enter in one read with a text is
	// taken for a part of it.
	for _, keys := range []string{quit, "\r"} {
		if err := host.Type(socket, []byte(keys)); err != nil {
			return fmt.Errorf("ask it to end: %w", err)
		}
		if gone(ctx, s.Process, typingPause) {
			return nil
		}
	}
	gone(ctx, s.Process, politeWait)
	return nil
}

const (
	askedName   = ".idle-asked.json"
	typingPause = 500 * time.Millisecond
	lookAgain   = 50 * time.Millisecond
)

// gone waits until a process is gone, at most so long.
func gone(ctx context.Context, id process.Identity, wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		if alive, err := id.Alive(); err == nil && !alive {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(lookAgain):
		}
	}
}
