package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"agentwrap/internal/host"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
)

func newDetachCommand(a *app) *cobra.Command {
	return command(&cobra.Command{
		Use:   "detach ID",
		Short: "take a session off its terminals; it goes on",
		Long: "Has every terminal that is on a session leave it, as it was before. The session goes on.\n" +
			"From inside a session, in another terminal or through the agent itself, the same.",
		Example:           "  agent-sessions detach 482913",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeID(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return runDetach(cmd.Context(), a, args[0]) },
	}, exitNoSession, exitRefused)
}

func runDetach(ctx context.Context, a *app, short string) error {
	s, err := a.session(ctx, short, observe.Want{})
	if err != nil {
		return err
	}
	socket, err := holderOf(s)
	if err != nil {
		return err
	}
	if err := host.Detach(socket); err != nil {
		return fmt.Errorf("detach %s: %w", s.Entry.LedgerID, err)
	}
	return nil
}

// holderOf is the socket of the holder that keeps a session's terminal, or why
// there is none.
func holderOf(s *observe.Session) (string, error) {
	id, socket := s.Entry.LedgerID, ledger.Value(s.Entry.HostSocket)
	switch {
	case !s.State.Alive():
		return "", refuse("session %s does not run: %s", id, s.Evidence)
	case socket == "":
		return "", refuse("session %s runs on a terminal of its own, which nothing keeps: it was not started through the shim, or not by hand", id)
	}
	return socket, nil
}
