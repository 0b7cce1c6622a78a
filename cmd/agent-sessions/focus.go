package main

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentwrap/internal/caller"
	"agentwrap/internal/focus"
	"agentwrap/internal/gitfacts"
	"agentwrap/internal/ledger"
	"agentwrap/internal/present"
)

type focusOptions struct {
	session string
	clear   bool
	json    bool
	update  focus.Update
}

func newFocusCommand(a *app) *cobra.Command {
	var o focusOptions
	var text, why, ticket, model string
	cmd := command(&cobra.Command{
		Use:   "focus",
		Short: "what each session of this working tree is doing now",
		Long: "Says what the calling session is doing, for its person and the other sessions of the working tree to see. What is\n" +
			"not given stays as it was. Without flags it shows what all of them said, the newest first; what is older than\n" +
			"20 minutes is dimmed and stays until --clear.",
		Example: "  agent-sessions focus --focus 'the parser' --why 'it drops comments' --ticket T-12\n  agent-sessions focus",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.update = focus.Update{
				Focus: given(cmd.Flags(), "focus", &text), Reasoning: given(cmd.Flags(), "why", &why),
				TicketID: given(cmd.Flags(), "ticket", &ticket), Model: given(cmd.Flags(), "model", &model),
			}
			return runFocus(a, o)
		},
	})
	cmd.Flags().StringVar(&text, "focus", "", "what the session is doing")
	cmd.Flags().StringVar(&why, "why", "", "for what reason")
	cmd.Flags().StringVar(&ticket, "ticket", "", "the ticket that it is for")
	cmd.Flags().StringVar(&model, "model", "", "the model that does it")
	cmd.Flags().StringVar(&o.session, "session", "", "another session than the calling one")
	cmd.Flags().BoolVar(&o.clear, "clear", false, "remove what the session said")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// given is a flag's value, nil where it was not on the command line.
func given(flags *pflag.FlagSet, name string, value *string) *string {
	if !flags.Changed(name) {
		return nil
	}
	return value
}

func runFocus(a *app, o focusOptions) error {
	store, who, err := a.focus()
	if err != nil {
		return err
	}
	changes := o.update != focus.Update{}
	switch {
	case o.clear && changes:
		return wrongUse("focus: --clear goes with --session alone")
	case o.clear:
		return store.Remove(cmp.Or(o.session, focus.DefaultID(who, hostname())))
	case changes:
		return saveFocus(a, o, store, who)
	}
	return showFocus(a, o, store)
}

func saveFocus(a *app, o focusOptions, store focus.Store, who caller.Look) error {
	by := focus.Record{Host: hostname(), PID: who.PPID}
	if agent, ok := who.Agent(); ok {
		by.PID = agent.PID
	}
	r, err := store.Save(cmp.Or(o.session, focus.DefaultID(who, by.Host)), o.update, by, a.now())
	if err == focus.ErrNothing {
		return wrongUse("focus: %w: give --focus, --why or --ticket", err)
	}
	if err != nil || !o.json {
		return err
	}
	return printJSON(a, r)
}

// focusItem is a record in `focus --json`.
type focusItem struct {
	focus.Record
	Stale bool `json:"stale"`
}

func showFocus(a *app, o focusOptions, store focus.Store) error {
	records, unreadable, err := store.Load()
	if err != nil {
		return err
	}
	for _, err := range unreadable {
		a.warn("%v", err)
	}
	items := []focusItem{}
	t := present.Table{Columns: []present.Column{
		{Title: "SESSION", Min: 10}, {Title: "FOCUS", Min: 12}, {Title: "WHY", Min: 8, Drop: 2}, {Title: "TICKET"}, {Title: "MODEL", Drop: 3}, {Title: "AGE", Right: true},
	}}
	for _, r := range records {
		if o.session == "" || focus.ID(o.session) == r.ID {
			items = append(items, focusItem{r, r.Stale(a.now())})
			t.Rows = append(t.Rows, focusRow(r, a.now()))
		}
	}
	if o.json {
		return printJSON(a, items)
	}
	return t.Write(a.out, a.screen())
}

func focusRow(r focus.Record, now time.Time) []present.Cell {
	age := "?"
	if d, ok := r.Age(now); ok {
		age = present.Age(d)
	}
	tone := present.Plain
	if r.Stale(now) {
		tone, age = present.Dim, age+" stale"
	}
	return []present.Cell{
		{Text: r.ID, Tone: tone}, {Text: r.Focus, Tone: tone}, {Text: r.Reasoning, Tone: tone}, {Text: r.TicketID, Tone: tone}, {Text: r.Model, Tone: tone},
		{Text: age, Raw: r.UpdatedAt, Tone: tone},
	}
}

// focus is the records and claims of the working tree that this program was
// called in, and who called it.
func (a *app) focus() (focus.Store, caller.Look, error) {
	root, err := ledger.Root(a.getenv)
	if err != nil {
		return focus.Store{}, caller.Look{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return focus.Store{}, caller.Look{}, fmt.Errorf("find the working tree: %w", err)
	}
	return focus.Open(root, cmp.Or(gitfacts.At(dir).Root, dir)), a.caller(), nil
}

// hostname is this machine's name, "localhost" where it has none.
func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}
