package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/stop"
)

type stopOptions struct {
	grace  time.Duration
	strays bool
}

func newStopCommand(a *app) *cobra.Command {
	var o stopOptions
	cmd := command(&cobra.Command{
		Use:   "stop ID...",
		Short: "end a session with all it started",
		Long: "Ends a session with its whole tree of processes: first its CLI is asked alone (SIGTERM), so that it can finish what\n" +
			"it writes, then the tree, then whatever is left is killed. Daemons that other sessions may use stay. What it left in\n" +
			"the background before is told, and ended with --strays. The conversation and the files stay.",
		Example:           "  agent-sessions stop 482913\n  agent-sessions stop --grace 30s 482913 482914",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeID(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			var failed error
			for _, short := range args {
				failed = errors.Join(failed, runStop(cmd.Context(), a, short, o))
			}
			return failed
		},
	}, exitNoSession, exitRefused)
	cmd.Flags().DurationVar(&o.grace, "grace", stop.DefaultGrace.Polite, "how long the CLI may take to end by itself")
	cmd.Flags().BoolVar(&o.strays, "strays", false, "end what it left in the background too")
	return cmd
}

func runStop(ctx context.Context, a *app, short string, o stopOptions) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	s, err := a.session(ctx, short, observe.Want{})
	if err != nil {
		return err
	}
	id := s.Entry.LedgerID
	if !s.State.Alive() {
		return refuse("session %s does not run: %s", id, s.Evidence)
	}
	order := stop.Order{Grace: stop.DefaultGrace, Strays: o.strays}
	if o.grace < 0 {
		return wrongUse("--grace: %v is no time to wait", o.grace)
	}
	order.Grace.Polite = o.grace
	outcome, err := stop.Session(ctx, store, s.Entry, s.Process, order)
	switch {
	case errors.Is(err, stop.ErrInside):
		return refuse("session %s: this command runs inside it: end it by its own means, or from another terminal", id)
	case errors.Is(err, stop.ErrShared):
		return refuse("session %s: %v", id, err)
	case err != nil:
		return fmt.Errorf("stop session %s: %w", id, err)
	case len(outcome.Left) > 0:
		return fmt.Errorf("stop session %s: process %d does not end, not even by SIGKILL: it waits for the kernel", id, outcome.Left[0].PID)
	}
	for _, st := range outcome.Strays {
		a.warn("process %d (%s) was started by it and goes on; 'agent-sessions stop --strays' would have ended it", st.PID, st.Comm)
	}
	_, err = fmt.Fprintln(a.out, stopped(store, id, outcome))
	return err
}

// stopped is what a stop came to, in one line.
func stopped(store *ledger.Store, id string, o stop.Outcome) string {
	text := fmt.Sprintf("stopped %s: %d processes ended", id, o.Ended)
	if o.Ended == 1 {
		text = fmt.Sprintf("stopped %s: 1 process ended", id)
	}
	if o.Signal == unix.SIGKILL {
		text += ", some only by SIGKILL"
	}
	e, err := store.Read(id)
	if err != nil || e.ExitStatus == nil {
		return text
	}
	if code := e.ExitStatus.Code; code != nil {
		return text + fmt.Sprintf(", exit status %d", *code)
	}
	return text + ", killed by " + unix.SignalName(unix.Signal(ledger.Value(e.ExitStatus.Signal)))
}
