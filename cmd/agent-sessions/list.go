package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/present"
)

type listOptions struct {
	all      bool
	json     bool
	states   []string
	runtimes []string
	projects []string
}

func newListCommand(a *app) *cobra.Command {
	var o listOptions
	cmd := command(&cobra.Command{
		Use:   "list",
		Short: "what lives and what was lost",
		Long: `Lists the sessions that live and those that were lost: the lost ones first, then the newest first.

Where standard output is no terminal, each session is a line of fields with a tab between: id, state, runtime, title,
project, branch, folder, start, last activity, whose turn it is, uncommitted files, memory in bytes, terminal, "lost" or
nothing. A field that is not known is empty; later versions add fields only at the end.

States are working, idle, detached (alive, without a terminal), orphaned, finished and unknown; lost are the orphaned and
those that ended against their user's will; alive are the first three. The contract's own names are understood too.`,
		Example: "  agent-sessions list --all --project parser\n  agent-sessions list --state lost --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runList(cmd.Context(), a, o) },
	})
	cmd.Flags().BoolVarP(&o.all, "all", "a", false, "finished sessions too")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON array (docs/ledger.md)")
	cmd.Flags().StringSliceVar(&o.states, "state", nil, "only sessions in this `state`; several with commas")
	cmd.Flags().StringSliceVar(&o.runtimes, "runtime", nil, "only sessions of this `runtime`, such as claude")
	cmd.Flags().StringSliceVar(&o.projects, "project", nil, "only sessions of this `project`, by its name or a folder's path")
	return cmd
}

func runList(ctx context.Context, a *app, o listOptions) error {
	defer lookAfter(a.getenv, a.env, a.now())
	keep, err := o.filter()
	if err != nil {
		return err
	}
	view, err := o.observe(ctx, a)
	if err != nil {
		return err
	}
	for _, d := range view.Damaged {
		a.warn("%v; 'agent-sessions doctor --repair' sets it aside", d.Err)
	}
	if screen := a.screen(); !o.json && screen.Terminal {
		return showAndFillIn(ctx, a, view, screen, keep)
	}
	if _, err := view.Sample(ctx); err != nil {
		return err
	}
	if o.json {
		return printJSON(a, chosen(view, keep))
	}
	return newListing(view, a).print(a.out, a.screen(), chosen(view, keep))
}

// showAndFillIn shows at once what is known, and again, in its place, what a
// second reading of the cpu shows to be otherwise.
func showAndFillIn(ctx context.Context, a *app, view *observe.View, screen present.Screen, keep func(*observe.Session) bool) error {
	var first, second bytes.Buffer
	l := newListing(view, a)
	if err := l.print(&first, screen, chosen(view, keep)); err != nil {
		return err
	}
	if _, err := a.out.Write(first.Bytes()); err != nil {
		return err
	}
	lines := bytes.Count(first.Bytes(), []byte{'\n'})
	if lines >= screen.Height {
		return nil // it has scrolled out of reach
	}
	if changed, err := view.Sample(ctx); err != nil || len(changed) == 0 {
		return err
	}
	if err := l.print(&second, screen, chosen(view, keep)); err != nil || bytes.Equal(first.Bytes(), second.Bytes()) {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\x1b[%dA\x1b[J%s", lines, second.Bytes())
	return err
}

// printJSON prints one indented JSON value, <, > and & as they are.
func printJSON(a *app, v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// observe looks at the sessions, as far as they are asked for.
func (o listOptions) observe(ctx context.Context, a *app) (*observe.View, error) {
	src, err := a.sources()
	if err != nil {
		return nil, err
	}
	return observe.All(ctx, src, observe.Want{Finished: o.all || o.wantsFinished(), Clients: true, Texts: true, Costs: true, Dirty: true})
}

// chosen are the sessions that are asked for, in the order they are shown in.
func chosen(view *observe.View, keep func(*observe.Session) bool) []*observe.Session {
	sessions := []*observe.Session{}
	for _, s := range view.Sessions {
		if keep(s) {
			sessions = append(sessions, s)
		}
	}
	slices.SortStableFunc(sessions, lostFirst)
	return sessions
}

// lostFirst keeps the order in which sessions come, the newest first.
func lostFirst(x, y *observe.Session) int {
	rank := func(s *observe.Session) int {
		if s.Lost {
			return 0
		}
		return 1
	}
	return cmp.Compare(rank(x), rank(y))
}

// stateNames are the names of the states on the command line, beside the
// contract's own.
var stateNames = map[string]func(*observe.Session) bool{
	"working":  inState(ledger.AliveWorking),
	"idle":     inState(ledger.AliveIdle),
	"detached": inState(ledger.DetachedAlive),
	"orphaned": inState(ledger.Orphaned),
	"finished": inState(ledger.Finished),
	"unknown":  inState(ledger.Unknown),
	"lost":     func(s *observe.Session) bool { return s.Lost },
	"alive":    func(s *observe.Session) bool { return s.State.Alive() },
}

func inState(state ledger.State) func(*observe.Session) bool {
	return func(s *observe.Session) bool { return s.State == state }
}

// stateName is the short name of a state's long one, in lower case.
func stateName(name string) string {
	name = strings.ToLower(name)
	return strings.TrimSuffix(strings.TrimPrefix(name, "alive-"), "-alive")
}

func (o listOptions) wantsFinished() bool {
	return slices.ContainsFunc(o.states, func(s string) bool { return stateName(s) == "finished" })
}

// filter tells which sessions are asked for.
func (o listOptions) filter() (func(*observe.Session) bool, error) {
	var states []func(*observe.Session) bool
	for _, name := range o.states {
		is, known := stateNames[stateName(name)]
		if !known {
			return nil, wrongUse("no state is called %q; see 'agent-sessions list --help'", name)
		}
		states = append(states, is)
	}
	var folders []string
	for _, p := range o.projects {
		if folder, err := filepath.Abs(p); err == nil && strings.ContainsAny(p, "/.") {
			folders = append(folders, folder)
		}
	}
	return func(s *observe.Session) bool {
		inStates := slices.ContainsFunc(states, func(is func(*observe.Session) bool) bool { return is(s) })
		// One that was lost and then resumed is over: another goes on with it.
		shown := s.Lost || s.State != ledger.Finished || o.all
		return (len(states) == 0 && shown || inStates) &&
			(len(o.runtimes) == 0 || slices.Contains(o.runtimes, s.Entry.Runtime)) &&
			(len(o.projects) == 0 || slices.Contains(o.projects, ledger.Value(s.Entry.Project)) || below(folders, ledger.Value(s.Entry.CWD)))
	}, nil
}

// below tells whether a path is one of some folders or lies in one.
func below(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		rel, err := filepath.Rel(folder, path)
		return path != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
	})
}
