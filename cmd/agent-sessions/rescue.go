package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"agentwrap/internal/git"
	"agentwrap/internal/gitfacts"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/present"
	"agentwrap/internal/rescue"
)

func newRescueCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := command(&cobra.Command{
		Use:   "rescue [ID]",
		Short: "uncommitted work that was saved, and what to do with it",
		Long: "Lists the uncommitted work that was saved when sessions died: 'rescue list' does the same. With the ID of a\n" +
			"session it saves that session's uncommitted work now, beside what its death would save.\n\n" +
			"Saved work is a commit under a ref of its own, which is never removed but by 'rescue drop'. The other commands\n" +
			"take a session's ID, or a name or ref as they are listed. See docs/rescue.md.",
		Example: "  agent-sessions rescue\n  agent-sessions rescue 482913\n  agent-sessions rescue restore 482913",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return runRescueList(cmd.Context(), a, asJSON)
			}
			return runRescueNow(cmd.Context(), a, args[0], asJSON)
		},
		ValidArgsFunction: completeID(a),
	}, exitNoSession, exitRefused)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: an array of what there is, or the one that was saved")
	cmd.AddCommand(
		newRescueListCommand(a), newRescueShowCommand(a), newRescueRestoreCommand(a), newRescueBundleCommand(a), newRescueDropCommand(a),
	)
	return cmd
}

// rescues is all saved work that this machine knows of.
type rescues struct {
	runner *git.Runner
	snaps  []rescue.Snap // the newest first
}

// rescues looks into the repositories of all sessions and of the folder that
// the command stands in. One that cannot be read is told, and the rest goes on.
func (a *app) rescues(ctx context.Context) (rescues, error) {
	runner, err := git.New(a.env)
	if err != nil {
		return rescues{}, err
	}
	repositories, err := a.repositories()
	if err != nil {
		return rescues{}, err
	}
	found := make([][]rescue.Snap, len(repositories))
	failed := make([]error, len(repositories))
	var group errgroup.Group
	group.SetLimit(repositoriesAtOnce)
	for n, dir := range repositories {
		group.Go(func() error {
			found[n], failed[n] = rescue.List(ctx, runner, dir)
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	for _, err := range failed {
		if err != nil && !errors.Is(err, git.ErrNoDir) {
			a.warn("%v", err)
		}
	}
	all := slices.Concat(found...)
	slices.SortStableFunc(all, func(x, y rescue.Snap) int { return y.At.Compare(x.At) })
	return rescues{runner, all}, nil
}

const repositoriesAtOnce = 4

// repositories are the git folders that the sessions' work is in.
func (a *app) repositories() ([]string, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	loaded, err := store.Load(true)
	if err != nil {
		return nil, err
	}
	var dirs []string
	add := func(dir string) {
		if dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, e := range loaded.Entries {
		if e.GitCommonDir != nil {
			add(*e.GitCommonDir)
		} else if e.RepoRoot != nil {
			add(gitfacts.At(*e.RepoRoot).CommonDir)
		}
	}
	if here, err := os.Getwd(); err == nil {
		add(gitfacts.At(here).CommonDir)
	}
	return dirs, nil
}

// pick is the one that a person means.
func (a *app) pick(ctx context.Context, word string) (*git.Runner, rescue.Snap, error) {
	all, err := a.rescues(ctx)
	if err != nil {
		return nil, rescue.Snap{}, err
	}
	s, err := rescue.Pick(all.snaps, word)
	return all.runner, s, err
}

// runRescueNow saves the work of one session by hand.
func runRescueNow(ctx context.Context, a *app, short string, asJSON bool) error {
	s, err := a.session(ctx, short, observe.Want{Texts: true})
	if err != nil {
		return err
	}
	runner, err := git.New(a.env)
	if err != nil {
		return err
	}
	e, limits := s.Entry, a.settings().Rescue
	if e.CWD == nil {
		return refuse("%s has no folder on record", e.LedgerID)
	}
	result, err := rescue.Snapshot(ctx, runner, rescue.Request{
		LedgerID: e.LedgerID, CWD: *e.CWD, Root: ledger.Value(e.RepoRoot), Title: s.Title, Branch: ledger.Value(e.Branch),
		Host: ledger.Value(e.Host), Shared: len(s.SharedWith) > 0, Live: true, Now: a.now(),
		Limits: rescue.Limits{File: limits.FileLimit, Total: limits.TotalLimit},
	})
	switch {
	case errors.Is(err, git.ErrForeign):
		return refuse("%v", err)
	case err != nil:
		return err
	case result.Outcome == rescue.NoTree || result.Outcome == rescue.Gone:
		return refuse("%s: there is nothing to save: %s", e.LedgerID, result.Why)
	}
	return a.tellSaved(ctx, runner, *e.CWD, result, asJSON)
}

func (a *app) tellSaved(ctx context.Context, runner *git.Runner, cwd string, r rescue.Result, asJSON bool) error {
	for _, n := range r.Skipped {
		a.warn("not saved: %s: %s", n.Path, n.Why)
	}
	if r.Outcome == rescue.Clean {
		if asJSON {
			return printJSON(a, nil)
		}
		_, err := fmt.Fprintf(a.out, "nothing is uncommitted in %s\n", present.Line(cwd))
		return err
	}
	if asJSON {
		s, err := rescue.Find(ctx, runner, r.Repository, r.Ref)
		if err != nil {
			return err
		}
		return printJSON(a, rescueItemOf(s))
	}
	_, err := fmt.Fprintf(a.out, "saved %s in %s\nrestore: %s\n", count(len(r.Paths), "file"), r.Ref, present.Line(rescue.RestoreCommand(cwd, r.Ref)))
	return err
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
