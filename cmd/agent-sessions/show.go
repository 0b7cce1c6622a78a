package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"agentwrap/internal/observe"
	"agentwrap/internal/present"
)

type showOptions struct{ json bool }

func newShowCommand(a *app) *cobra.Command {
	var o showOptions
	cmd := command(&cobra.Command{
		Use:   "show ID",
		Short: "all that is known of one session",
		Long: "Shows all that is known of one session, and what its state rests on.\n" +
			"Where standard output is no terminal, each line is a name, a tab and a value.",
		Example:           "  agent-sessions show 482913\n  agent-sessions show 482913 --json | jq .evidence",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeID(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return runShow(cmd.Context(), a, args[0], o) },
	}, exitNoSession)
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON object (docs/ledger.md)")
	return cmd
}

func runShow(ctx context.Context, a *app, short string, o showOptions) error {
	s, err := a.session(ctx, short, observe.Want{Clients: true, Texts: true, Costs: true, Dirty: true})
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(a, s)
	}
	screen := a.screen()
	for _, f := range (a.details(s)).all() {
		name, value := f.name, present.Line(f.value)
		switch {
		case value == "":
			continue
		case screen.Terminal:
			name = screen.Tint(present.Dim, fmt.Sprintf("%-14s", name)) + " "
		default:
			name += "\t"
		}
		if _, err := fmt.Fprintln(a.out, name+value); err != nil {
			return err
		}
	}
	return nil
}
