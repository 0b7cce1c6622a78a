package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/present"
	"agentwrap/internal/runstore"
)

type eventsOptions struct {
	after  int64
	follow bool
	json   bool
}

func newEventsCommand(a *app) *cobra.Command {
	var o eventsOptions
	cmd := command(&cobra.Command{
		Use:   "events ID",
		Short: "a session's event log",
		Long: "Prints what happened to a session: its birth, its process, the conversations it carried, whose turn it was, rescues,\n" +
			"messages, idle decisions and its end. With --json each event is a line; the last line on standard error is the byte\n" +
			"offset to go on from with --after.",
		Example:           "  agent-sessions events 482913 --follow\n  agent-sessions events 482913 --json --after 4096",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeID(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.after < 0 {
				return wrongUse("events: --after %d is negative", o.after)
			}
			return runEvents(cmd.Context(), a, args[0], o)
		},
	}, exitNoSession)
	cmd.Flags().Int64Var(&o.after, "after", 0, "begin behind this byte offset")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on with what comes, until interrupted or the session ends")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, an event a line")
	return cmd
}

// followEvery is how often a followed log is looked at.
const followEvery = 250 * time.Millisecond

func runEvents(ctx context.Context, a *app, short string, o eventsOptions) error {
	row, err := a.row(short)
	if err != nil {
		return err
	}
	runs, err := a.runs()
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	for {
		events, next, err := runs.ReadEvents(row.LedgerID, o.after)
		if err != nil {
			return err
		}
		if err := printEvents(a, events, o.json); err != nil {
			return err
		}
		o.after = max(o.after, next)
		if !o.follow || over(events) {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followEvery):
		}
	}
	if o.json {
		fmt.Fprintln(a.err, o.after)
	}
	return nil
}

// over tells that the last of these events is the session's end.
func over(events []runstore.Event) bool {
	return len(events) > 0 && events[len(events)-1].Type == runstore.EventEnd
}

func printEvents(a *app, events []runstore.Event, asJSON bool) error {
	for _, ev := range events {
		if asJSON {
			if err := json.NewEncoder(a.out).Encode(ev); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(a.out, "%s  %-12s  %s\n", present.Line(ev.Timestamp), present.Line(ev.Type), present.Line(eventText(ev))); err != nil {
			return err
		}
	}
	return nil
}

func eventText(ev runstore.Event) string {
	text := ev.Text
	for _, part := range []string{ev.Phase, ev.ID, ev.Tool, ev.Output, ev.Stderr} {
		if part != "" {
			text += " " + part
		}
	}
	if ev.ExitCode != nil {
		text += fmt.Sprintf(" exit status %d", *ev.ExitCode)
	}
	return text
}
