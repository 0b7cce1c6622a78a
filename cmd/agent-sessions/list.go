package main

import (
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"

	"agentwrap/internal/ledger"
	"agentwrap/internal/present"
)

type listOptions struct {
	all     bool
	json    bool
	runtime string
	project string
}

func newListCommand(a *app) *cobra.Command {
	var o listOptions
	cmd := command(&cobra.Command{
		Use:   "list",
		Short: "what lives and what was lost",
		Long: "Lists the sessions that live and those that were lost, the lost ones first, then the newest first.\n" +
			"Where standard output is no terminal, each session is a line of tab-separated fields without titles.",
		Example: "  agent-sessions list --all --project parser",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runList(a, o) },
	})
	cmd.Flags().BoolVarP(&o.all, "all", "a", false, "finished sessions too")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON array")
	cmd.Flags().StringVar(&o.runtime, "runtime", "", "only sessions of this runtime, such as claude")
	cmd.Flags().StringVar(&o.project, "project", "", "only sessions of this project")
	return cmd
}

func runList(a *app, o listOptions) error {
	entries, err := o.entries(a)
	if err != nil {
		return err
	}
	if o.json {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", "  ")
		return enc.Encode(entries)
	}
	t := present.Table{Columns: []present.Column{
		{Title: "ID"}, {Title: "RUNTIME", Drop: 3}, {Title: "PROJECT", Min: 8}, {Title: "BRANCH", Min: 6, Drop: 1},
		{Title: "AGE", Right: true}, {Title: "TTY", Drop: 2},
	}}
	for _, e := range entries {
		started := ledger.Value(e.StartedAt)
		t.Rows = append(t.Rows, []present.Cell{
			{Text: e.LedgerID}, {Text: e.Runtime}, {Text: ledger.Value(e.Project)}, {Text: ledger.Value(e.Branch)},
			{Text: present.Age(a.now().Sub(started.Time)), Raw: started.String()}, {Text: ledger.Value(e.TTY)},
		})
	}
	return t.Write(a.out, a.screen())
}

func (o listOptions) entries(a *app) ([]*ledger.Entry, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	ids, err := store.IDs()
	if err != nil {
		return nil, err
	}
	kept := []*ledger.Entry{}
	for _, id := range ids {
		e, err := store.Read(id)
		if err != nil {
			a.warn("%v", err)
			continue
		}
		if o.wants(e) {
			kept = append(kept, e)
		}
	}
	slices.SortFunc(kept, func(x, y *ledger.Entry) int {
		return ledger.Value(y.StartedAt).Compare(ledger.Value(x.StartedAt).Time)
	})
	return kept, nil
}

func (o listOptions) wants(e *ledger.Entry) bool {
	return (o.all || e.FinishedAt == nil) &&
		(o.runtime == "" || e.Runtime == o.runtime) &&
		(o.project == "" || ledger.Value(e.Project) == o.project)
}
