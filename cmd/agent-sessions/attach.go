package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"agentwrap/internal/git"
	"agentwrap/internal/host"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/present"
	"agentwrap/internal/reopen"
)

type attachOptions struct{ recreate, yes bool }

func newAttachCommand(a *app) *cobra.Command {
	var o attachOptions
	cmd := command(&cobra.Command{
		Use:   "attach [ID]",
		Short: "get back into a session",
		Long: "Gets you back into a session, from any folder: joins it where it lives, with its screen and history, or resumes its\n" +
			"conversation where it died, in its own folder. Closing the terminal leaves it running; several terminals may be on\n" +
			"one session. A conversation that is open anywhere is never opened twice. Without an ID you choose from a list.",
		Example:           "  agent-sessions attach 482913\n  agent-sessions attach claude-20260807T110001Z-482913 --recreate",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeID(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return runAttach(cmd.Context(), a, args[0], o)
			}
			id, err := a.choose(cmd.Context(), "attach to", func(s *observe.Session) bool { return s.Lost || s.State.Alive() })
			if err != nil {
				return err
			}
			return runAttach(cmd.Context(), a, id, o)
		},
	}, exitNoSession, exitRefused)
	cmd.Flags().BoolVar(&o.recreate, "recreate", false, "make the session's folder again where it is gone, a worktree on its branch")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "begin anew in the session's folder, without being asked, where nothing can be resumed")
	return cmd
}

func runAttach(ctx context.Context, a *app, short string, o attachOptions) error {
	desk, s, err := a.deskFor(ctx, short)
	if err != nil {
		return err
	}
	plan := desk.Plan(s)
	if plan.Recreate && o.recreate {
		if plan, err = a.recreate(ctx, desk, s); err != nil {
			return err
		}
	}
	switch plan.Action {
	case reopen.Join:
		outcome, err := host.Attach(ledger.Value(s.Entry.HostSocket), s.Entry.LedgerID)
		if err != nil {
			return err
		}
		return tellEnd(a, s.Entry.LedgerID, outcome)
	case reopen.JoinOwn:
		return a.joinOwn(s)
	case reopen.Refuse:
		return refusal(s, plan)
	}
	return a.goOn(ctx, desk, s, plan, o)
}

// refusal is why a session cannot be got back into, and what to do.
func refusal(s *observe.Session, plan reopen.Plan) error {
	if plan.Next == "" {
		return refuse("session %s: %s", s.Entry.LedgerID, plan.Why)
	}
	return refuse("session %s: %s: %s", s.Entry.LedgerID, plan.Why, plan.Next)
}

func (a *app) recreate(ctx context.Context, desk reopen.Desk, s *observe.Session) (reopen.Plan, error) {
	run, err := git.New(a.env)
	if err != nil && ledger.Value(s.Entry.Worktree) {
		return reopen.Plan{}, err
	}
	if err := reopen.Recreate(ctx, run, s.Entry); err != nil {
		return reopen.Plan{}, err
	}
	a.warn("made %s again", ledger.Value(s.Entry.CWD))
	return desk.Plan(s), nil
}

// goOn starts what goes on with a session that runs no more, in this process's
// place.
func (a *app) goOn(ctx context.Context, desk reopen.Desk, s *observe.Session, plan reopen.Plan, o attachOptions) error {
	id := s.Entry.LedgerID
	if !a.onTerminal() {
		return refuse("session %s: there is no terminal to show it on; bring it back without one: agent-sessions reopen %s", id, id)
	}
	if plan.Action == reopen.Fresh && !o.yes {
		fmt.Fprintf(a.err, "session %s: %s\n%s\n", id, plan.Why, known(s))
		if err := a.confirm("Begin a new one there?"); err != nil {
			return err
		}
	}
	start, warning, err := desk.Resumption(ctx, s.Entry, plan.Action)
	if err != nil {
		return err
	}
	if warning != nil {
		a.complain(warning)
	}
	return start.Exec()
}

// known is what is known of a session whose conversation is not.
func known(s *observe.Session) string {
	e := s.Entry
	parts := []string{"it ran " + e.Runtime + " in " + ledger.Value(e.CWD)}
	if e.Branch != nil {
		parts = append(parts, "on branch "+*e.Branch)
	}
	if e.StartedAt != nil {
		parts = append(parts, "since "+e.StartedAt.String())
	}
	if e.RescueRef != nil {
		parts = append(parts, "its uncommitted work is safe: agent-sessions rescue show "+e.LedgerID)
	}
	return "  " + present.Line(strings.Join(parts, ", "))
}

// tellEnd tells what a person who was attached cannot see: that and how the
// session ended. A detach is told by the relay itself.
func tellEnd(a *app, id string, o host.Outcome) error {
	switch {
	case o.Detached:
		return nil
	case o.Lost:
		return fmt.Errorf("session %s was lost: its host died; 'agent-sessions show %s' tells what is left", id, id)
	case o.Signal != 0:
		a.warn("session %s was killed by %s", id, unix.SignalName(o.Signal))
	case o.Code != 0:
		a.warn("session %s ended with exit status %d", id, o.Code)
	}
	return nil
}
