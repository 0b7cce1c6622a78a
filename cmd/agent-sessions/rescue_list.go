package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/present"
	"agentwrap/internal/rescue"
)

// rescueItem is saved work in JSON (docs/rescue.md, "In JSON").
type rescueItem struct {
	Name         string         `json:"name"`
	Ref          string         `json:"ref"`
	Commit       string         `json:"commit"`
	Live         bool           `json:"live"`
	Session      string         `json:"ledgerId"`
	Title        *string        `json:"title"`
	SavedAt      *string        `json:"savedAt"`
	CWD          string         `json:"cwd"`
	Branch       *string        `json:"branch"`
	Host         *string        `json:"host"`
	Repository   string         `json:"repository"`
	MainCheckout *string        `json:"mainCheckout"`
	Paths        []string       `json:"paths"`
	Skipped      []rescueNote   `json:"skipped"`
	AsIs         []rescueNote   `json:"savedAsIs"`
	Nested       []rescueNested `json:"nested"`
	Restore      string         `json:"restore"`
}

type rescueNote struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

type rescueNested struct {
	Path string `json:"path"`
	Ref  string `json:"ref"`
}

func rescueItemOf(s rescue.Snap) rescueItem {
	item := rescueItem{
		Name: s.Name(), Ref: s.Ref, Commit: s.Commit, Live: s.Live, Session: s.Session, Title: orNull(s.Title), CWD: s.CWD,
		Branch: orNull(s.Branch), Host: orNull(s.Host), Repository: s.Repository, MainCheckout: orNull(s.Main),
		Paths: append([]string{}, s.Paths...), Skipped: rescueNotes(s.Skipped), AsIs: rescueNotes(s.Raw),
		Nested: []rescueNested{}, Restore: restoreOf(s),
	}
	if !s.At.IsZero() {
		item.SavedAt = orNull(s.At.UTC().Format(time.RFC3339))
	}
	for _, n := range s.Nested {
		item.Nested = append(item.Nested, rescueNested{n.Path, n.Ref})
	}
	return item
}

func rescueNotes(notes []rescue.Note) []rescueNote {
	list := make([]rescueNote, len(notes))
	for i, n := range notes {
		list[i] = rescueNote(n)
	}
	return list
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// restoreOf is the command that gives the work back: in the session's folder,
// or in the main checkout where that is gone.
func restoreOf(s rescue.Snap) string { return rescue.RestoreCommand(placeFor(s.CWD, s.Main), s.Ref) }

func newRescueListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := command(&cobra.Command{
		Use:   "list",
		Short: "what was saved: session, title, when, files, ref, repository",
		Long: "Lists the saved work in the repositories of all sessions and in the one that the command stands in, the newest\n" +
			"first. Where standard output is no terminal, each is a line of tab-separated fields.",
		Example: "  agent-sessions rescue list\n  agent-sessions rescue list --json | jq -r '.[].restore'",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runRescueList(cmd.Context(), a, asJSON) },
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func runRescueList(ctx context.Context, a *app, asJSON bool) error {
	all, err := a.rescues(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		items := make([]rescueItem, len(all.snaps))
		for i, s := range all.snaps {
			items[i] = rescueItemOf(s)
		}
		return printJSON(a, items)
	}
	screen := a.screen()
	if len(all.snaps) == 0 && screen.Terminal {
		_, err := fmt.Fprintln(a.out, "no uncommitted work had to be saved")
		return err
	}
	t := present.Table{Columns: []present.Column{
		{Title: "SESSION", Min: 12}, {Title: "TITLE", Min: 8, Drop: 1}, {Title: "SAVED", Right: true}, {Title: "FILES", Right: true},
		{Title: "REF", Min: 16, Drop: 3}, {Title: "REPOSITORY", Min: 10, Drop: 2},
	}}
	for _, s := range all.snaps {
		t.Rows = append(t.Rows, []present.Cell{
			{Text: s.Name(), Tone: present.Strong}, {Text: s.Title},
			{Text: present.Age(a.now().Sub(s.At)), Raw: s.At.UTC().Format(time.RFC3339)},
			{Text: fmt.Sprint(len(s.Paths))}, {Text: s.Ref}, {Text: s.Repository},
		})
	}
	if err := t.Write(a.out, screen); err != nil || !screen.Terminal {
		return err
	}
	_, err = fmt.Fprintln(a.out, screen.Tint(present.Dim, "agent-sessions rescue restore ID gives the work back"))
	return err
}

func newRescueShowCommand(a *app) *cobra.Command {
	var asJSON, patch bool
	cmd := command(&cobra.Command{
		Use:     "show ID",
		Short:   "what is in it: the files, with --patch the lines",
		Long:    "Shows one saved piece of work: whose it is, what could not be saved, and what it changes.",
		Example: "  agent-sessions rescue show 482913 --patch",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRescueShow(cmd.Context(), a, args[0], patch, asJSON)
		},
		ValidArgsFunction: completeRescue(a),
	}, exitNoSession)
	cmd.Flags().BoolVarP(&patch, "patch", "p", false, "the changed lines too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func runRescueShow(ctx context.Context, a *app, word string, patch, asJSON bool) error {
	runner, s, err := a.pick(ctx, word)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a, rescueItemOf(s))
	}
	for _, f := range [][2]string{
		{"session", s.Session}, {"title", s.Title}, {"saved", s.At.UTC().Format(time.RFC3339)}, {"folder", s.CWD}, {"branch", s.Branch},
		{"host", s.Host}, {"repository", s.Repository}, {"ref", s.Ref}, {"restore", restoreOf(s)},
	} {
		if f[1] != "" {
			fmt.Fprintf(a.out, "%-11s %s\n", f[0], present.Line(f[1]))
		}
	}
	for _, n := range s.Skipped {
		fmt.Fprintf(a.out, "%-11s %s: %s\n", "not saved", present.Line(n.Path), present.Line(n.Why))
	}
	for _, n := range s.Raw {
		fmt.Fprintf(a.out, "%-11s %s: %s\n", "saved as is", present.Line(n.Path), present.Line(n.Why))
	}
	for _, n := range s.Nested {
		fmt.Fprintf(a.out, "%-11s %s: %s\n", "inside", present.Line(n.Path), n.Ref)
	}
	fmt.Fprintln(a.out)
	return a.harmlessly(func(w io.Writer) error { return rescue.Diff(ctx, runner, s, patch, w) })
}

// harmlessly prints what write writes, line by line and made harmless.
func (a *app) harmlessly(write func(io.Writer) error) error {
	from, to := io.Pipe()
	go func() { to.CloseWithError(write(to)) }()
	defer from.Close()
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if _, werr := io.WriteString(a.out, present.Lines(line)); werr != nil {
				return werr
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// completeRescue completes the names of what was saved.
func completeRescue(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		all, err := a.rescues(cmd.Context())
		if err != nil {
			return nil, directive
		}
		names := make([]cobra.Completion, len(all.snaps))
		for i, s := range all.snaps {
			names[i] = cobra.CompletionWithDesc(s.Name(), present.Line(fmt.Sprintf("%s, %s", count(len(s.Paths), "file"), s.Title)))
		}
		return names, directive
	}
}
