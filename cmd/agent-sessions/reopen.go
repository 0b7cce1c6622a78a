package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/host"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/present"
	"agentwrap/internal/reopen"
)

type reopenOptions struct {
	lost     bool
	since    string
	detached bool
	dryRun   bool
	json     bool
}

func newReopenCommand(a *app) *cobra.Command {
	var o reopenOptions
	cmd := command(&cobra.Command{
		Use:   "reopen [ID...]",
		Short: "bring lost sessions back after a crash or reboot",
		Long: "Brings sessions back: each goes on with its own conversation in its own folder, hosted, a few starting at a time.\n" +
			"What lives already is left alone, and none is brought back twice. One that is named alone is shown on this\n" +
			"terminal at once; the others wait for 'agent-sessions attach'.",
		Example:           "  agent-sessions reopen --lost\n  agent-sessions reopen --lost --since 2h --dry-run\n  agent-sessions reopen 482913 482914 --detached",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeID(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return runReopen(cmd.Context(), a, args, o) },
	}, exitNoSession, exitRefused)
	cmd.Flags().BoolVar(&o.lost, "lost", false, "every session that was lost")
	cmd.Flags().StringVar(&o.since, "since", "", "of those, what was alive after this time: RFC 3339, or an age such as 90m or 2h")
	cmd.Flags().BoolVar(&o.detached, "detached", false, "show none on this terminal")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the results as a JSON array")
	return cmd
}

func runReopen(ctx context.Context, a *app, args []string, o reopenOptions) error {
	if o.since != "" {
		o.lost = true
	}
	if len(args) == 0 && !o.lost {
		if !a.onTerminal() {
			return wrongUse("reopen: name sessions, or say --lost for all that were lost")
		}
		id, err := a.choose(ctx, "reopen", func(s *observe.Session) bool { return s.Lost })
		if err != nil {
			return err
		}
		args = []string{id}
	}
	src, err := a.sources()
	if err != nil {
		return err
	}
	view, err := observe.All(ctx, src, observe.Want{Finished: len(args) > 0, Texts: true})
	if err != nil {
		return err
	}
	chosen, err := o.choose(a, view, src.Store, args)
	if err != nil {
		return err
	}
	desk := a.desk(view, src)
	if o.dryRun {
		return o.report(a, plans(desk, chosen))
	}
	results := desk.Many(ctx, chosen, func(r reopen.Result) { tellProgress(a, r) })
	if len(results) == 1 && !results[0].Failed() && !o.detached && a.onTerminal() {
		return a.show(src.Store, results[0].New)
	}
	if err := o.report(a, results); err != nil {
		return err
	}
	if slices.ContainsFunc(results, reopen.Result.Failed) {
		return errors.New("not every session is back")
	}
	return nil
}

// choose finds the sessions that are meant, the named ones and the lost ones,
// each once.
func (o reopenOptions) choose(a *app, view *observe.View, store *ledger.Store, args []string) ([]*observe.Session, error) {
	var after time.Time
	if o.since != "" {
		var err error
		if after, err = sinceTime(o.since, a.now()); err != nil {
			return nil, err
		}
	}
	named := map[string]bool{}
	for _, short := range args {
		id, err := store.Resolve(short)
		if err != nil {
			return nil, err
		}
		named[id] = true
	}
	var chosen []*observe.Session
	for _, s := range view.Sessions {
		lost := o.lost && s.Lost && !ledger.Value(s.LastActiveAt).Before(after)
		if named[s.Entry.LedgerID] || lost {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

// sinceTime reads a point in time or an age.
func sinceTime(s string, now time.Time) (time.Time, error) {
	if age, err := time.ParseDuration(s); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	return time.Time{}, wrongUse("--since: %q is neither a time such as 2026-08-07T11:00:01Z nor an age such as 2h", s)
}

func plans(desk reopen.Desk, chosen []*observe.Session) []reopen.Result {
	var list []reopen.Result
	for _, s := range chosen {
		list = append(list, reopen.Result{Old: s.Entry, Plan: desk.Plan(s)})
	}
	return list
}

// tellProgress says on a terminal what became of one session, as it happens.
func tellProgress(a *app, r reopen.Result) {
	if r.Warning != nil {
		a.complain(r.Warning)
	}
	if r.Err != nil {
		a.complain(r.Err)
	} else if a.onTerminal() {
		fmt.Fprintf(a.err, "back: %s in %s\n", r.New, present.Line(ledger.Value(r.Old.CWD)))
	}
}

// outcome is one session's result in words.
func outcome(r reopen.Result) string {
	switch {
	case r.Err != nil:
		return "failed"
	case r.New == r.Old.LedgerID:
		return "lives"
	case r.New != "":
		return "back"
	case r.Plan.Action == reopen.Refuse:
		return "would refuse: " + r.Plan.Why
	case r.Plan.Action == reopen.Fresh:
		return "nothing to resume: " + r.Plan.Why
	case r.Plan.Action == reopen.Resume:
		return "would resume"
	}
	return "lives"
}

func (o reopenOptions) report(a *app, results []reopen.Result) error {
	if o.json {
		return reportJSON(a, results)
	}
	t := present.Table{Columns: []present.Column{{Title: "SESSION"}, {Title: "OUTCOME"}, {Title: "NOW"}, {Title: "FOLDER", Min: 12, Drop: 1}}}
	for _, r := range results {
		t.Rows = append(t.Rows, []present.Cell{{Text: r.Old.LedgerID}, {Text: outcome(r)}, {Text: r.New}, {Text: ledger.Value(r.Old.CWD)}})
	}
	return t.Write(a.out, a.screen())
}

// reportJSON: error is null where there is none, session the one that goes on.
func reportJSON(a *app, results []reopen.Result) error {
	type row struct {
		LedgerID string  `json:"ledgerId"`
		Outcome  string  `json:"outcome"`
		Session  *string `json:"session"`
		CWD      *string `json:"cwd"`
		Error    *string `json:"error"`
	}
	rows := []row{}
	for _, r := range results {
		one := row{LedgerID: r.Old.LedgerID, Outcome: outcome(r), Session: ledger.Known(r.New), CWD: r.Old.CWD}
		if r.Err != nil {
			one.Error = ledger.Ptr(r.Err.Error())
		}
		rows = append(rows, one)
	}
	return printJSON(a, rows)
}

// show attaches this terminal to a session that has just been started.
func (a *app) show(store *ledger.Store, id string) error {
	e, err := store.Read(id)
	if err != nil {
		return err
	}
	outcome, err := host.Attach(ledger.Value(e.HostSocket), id)
	if err != nil {
		return err
	}
	return tellEnd(a, id, outcome)
}
