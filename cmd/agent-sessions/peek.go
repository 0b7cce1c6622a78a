package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agentwrap/internal/host"
	"agentwrap/internal/observe"
	"agentwrap/internal/screen"
)

func newPeekCommand(a *app) *cobra.Command {
	return command(&cobra.Command{
		Use:   "peek ID",
		Short: "a session's screen, without attaching",
		Long: "Prints what a session shows on its screen now. The session does not notice.\n" +
			"Where standard output is no terminal, it is plain text.",
		Example:           "  agent-sessions peek 482913\n  agent-sessions peek 482913 | tail -n 5",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeID(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return runPeek(cmd.Context(), a, args[0]) },
	}, exitNoSession, exitRefused)
}

func runPeek(ctx context.Context, a *app, short string) error {
	s, err := a.session(ctx, short, observe.Want{})
	if err != nil {
		return err
	}
	look := peekHeld
	if livesInOwn(s) {
		look = a.peekOwn
	}
	picture, columns, rows, err := look(s)
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.out, render(picture, columns, rows, a.screen().Colour))
	return err
}

// peekHeld is what draws the screen of a session that a holder keeps, and its
// size.
func peekHeld(s *observe.Session) (picture []byte, columns, rows int, err error) {
	socket, err := holderOf(s)
	if err != nil {
		return nil, 0, 0, err
	}
	status, err := host.Ask(socket)
	if err == nil {
		picture, err = host.Peek(socket)
	}
	if err != nil {
		return nil, 0, 0, fmt.Errorf("peek at %s: %w", s.Entry.LedgerID, err)
	}
	return picture, int(status.Size.Columns), int(status.Size.Rows), nil
}

// render is the screen that a picture draws, a line a row.
func render(picture []byte, columns, rows int, colour bool) string {
	s := screen.Play(picture, columns, rows)
	defer s.Close()
	lines := s.Lines()
	if colour {
		lines = s.Coloured()
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
