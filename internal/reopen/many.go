package reopen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/process"
)

const (
	// atOnce is how many sessions start at the same time: each is a CLI that
	// reads its whole conversation.
	atOnce = 4
	// startWait bounds one start.
	startWait = 60 * time.Second
)

// Result is what became of one session that was to be brought back.
type Result struct {
	Old *ledger.Entry
	// New is the session that goes on with it, "" for none.
	New  string
	Plan Plan
	// Warning is what went wrong on the way without stopping it.
	Warning error
	Err     error
}

// Failed tells that the session is not back.
func (r Result) Failed() bool { return r.Err != nil || r.New == "" }

// Many brings sessions back, each hosted and without a terminal, a few at a
// time. Each is told to progress as it is done; the results are in the order
// of the sessions.
func (d Desk) Many(ctx context.Context, sessions []*observe.Session, progress func(Result)) []Result {
	results := make([]Result, len(sessions))
	slots := make(chan struct{}, atOnce)
	var tell sync.Mutex
	var all sync.WaitGroup
	for i, s := range sessions {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			results[i] = d.one(ctx, s)
			tell.Lock()
			defer tell.Unlock()
			progress(results[i])
		})
	}
	all.Wait()
	return results
}

func (d Desk) one(ctx context.Context, s *observe.Session) Result {
	r := Result{Old: s.Entry, Plan: d.Plan(s)}
	switch r.Plan.Action {
	case Join, JoinOwn:
		// It lives: there is nothing to bring back.
		r.New = s.Entry.LedgerID
		return r
	case Refuse:
		r.Err = fmt.Errorf("session %s: %s; %s", s.Entry.LedgerID, r.Plan.Why, r.Plan.Next)
		return r
	case Fresh:
		r.Err = fmt.Errorf("session %s: %s; begin anew in its place with: agent-sessions attach %s", s.Entry.LedgerID, r.Plan.Why, s.Entry.LedgerID)
		return r
	}
	var start Start
	if start, r.Warning, r.Err = d.Resumption(ctx, s.Entry, r.Plan.Action); r.Err != nil {
		return r
	}
	if r.New, r.Err = start.Detached().Run(ctx); r.Err != nil {
		r.Err = errors.Join(fmt.Errorf("session %s: %w", s.Entry.LedgerID, r.Err), d.unclaim(s.Entry.LedgerID))
	}
	return r
}

func (d Desk) unclaim(id string) error {
	self, err := process.Self()
	if err != nil {
		return err
	}
	return Unclaim(d.Store, id, self)
}

// Run starts a detached start and returns the new session's id, which the shim
// prints once the session is hosted.
func (s Start) Run(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, s.Path)
	cmd.Args, cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.Argv, s.Env, s.Dir, &out, &said, time.Second
	err := cmd.Run()
	id := strings.TrimSpace(out.String())
	if err == nil && ledger.ValidID(id) {
		return id, nil
	}
	words := strings.TrimSpace(said.String())
	if words == "" {
		words = "it ended without a session"
	}
	return "", fmt.Errorf("start %s in %s: %s: %w", s.Argv[0], s.Dir, words, orNoSession(err))
}

var errNoSession = errors.New("no session was hosted")

func orNoSession(err error) error {
	if err != nil {
		return err
	}
	return errNoSession
}
