package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"agentwrap/internal/host"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/process"
	"agentwrap/internal/reopen"
)

func newAttachCommand(a *app) *cobra.Command {
	return command(&cobra.Command{
		Use:   "attach ID",
		Short: "get back into a session",
		Long: "Gets you back into a session: joins it where it lives, with its screen and history.\n" +
			"Closing the terminal leaves it running; several terminals may be on one session.",
		Example:           "  agent-sessions attach 482913",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeID(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return runAttach(cmd.Context(), a, args[0]) },
	}, exitNoSession, exitRefused)
}

func runAttach(ctx context.Context, a *app, short string) error {
	s, err := a.session(ctx, short, observe.Want{Clients: true})
	if err != nil {
		return err
	}
	id, socket := s.Entry.LedgerID, ledger.Value(s.Entry.HostSocket)
	if plan := reopen.Decide(attachFacts(s)); plan.Action != reopen.Join {
		return refuse("session %s: %s", id, reason(s, plan))
	}
	outcome, err := host.Attach(socket, id)
	if err != nil {
		return err
	}
	return tellEnd(a, id, outcome)
}

// attachFacts are what decides how to get back into a session.
func attachFacts(s *observe.Session) reopen.Facts {
	facts := reopen.Facts{Entry: s.Entry, Class: s.Classification, ResumedBy: s.ResumedBy()}
	if socket := ledger.Value(s.Entry.HostSocket); socket != "" && s.State.Alive() {
		_, err := host.Ask(socket)
		facts.HostAnswers = err == nil
	}
	if own, err := process.Self(); err == nil && s.State.Alive() {
		facts.Inside = onTerminalOf(own.PID, ledger.Value(s.Entry.TTY))
	}
	return facts
}

// onTerminalOf tells whether a process has the terminal of that name.
func onTerminalOf(pid int, tty string) bool {
	st, err := process.ReadStat(pid)
	return err == nil && tty != "" && process.TTYName(st.TTY) == tty
}

// reason is why a session cannot be joined, and what to do.
func reason(s *observe.Session, plan reopen.Plan) string {
	switch {
	case plan.Action == reopen.JoinOwn:
		return "it runs in a multiplexer of your own: join it there"
	case plan.Next != "":
		return plan.Why + ": " + plan.Next
	case plan.Why != "":
		return plan.Why
	}
	return "it runs no more: " + s.Evidence
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
