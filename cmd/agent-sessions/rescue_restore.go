package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"agentwrap/internal/git"
	"agentwrap/internal/present"
	"agentwrap/internal/rescue"
)

type restoreOptions struct {
	into        string
	force, json bool
}

func newRescueRestoreCommand(a *app) *cobra.Command {
	var o restoreOptions
	cmd := command(&cobra.Command{
		Use:   "restore ID",
		Short: "put the work back into a working tree",
		Long: "Puts saved work back into the session's working tree, or into the main checkout where that is gone: staged, not\n" +
			"committed, whatever has been committed since. It refuses where there is uncommitted work in the way.",
		Example: "  agent-sessions rescue restore 482913\n  agent-sessions rescue restore 482913 --into ../parser",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRescueRestore(cmd.Context(), a, args[0], o)
		},
		ValidArgsFunction: completeRescue(a),
	}, exitNoSession, exitRefused)
	cmd.Flags().StringVar(&o.into, "into", "", "a `folder` in the working tree to put it into")
	cmd.Flags().BoolVarP(&o.force, "force", "f", false, "go on beside other uncommitted work; none of it is overwritten")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON object")
	return cmd
}

func runRescueRestore(ctx context.Context, a *app, word string, o restoreOptions) error {
	runner, s, err := a.pick(ctx, word)
	if err != nil {
		return err
	}
	dir := o.into
	if dir == "" {
		if dir, err = rescue.Place(ctx, runner, s); errors.Is(err, rescue.ErrNoPlace) {
			return refuse("%v", err)
		} else if err != nil {
			return err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	r, err := rescue.Restore(ctx, runner, s, dir, o.force)
	if (err == nil || errors.Is(err, rescue.ErrConflict)) && o.json {
		if perr := printJSON(a, restoredItemOf(r)); perr != nil {
			return perr
		}
	} else if err == nil {
		if perr := a.tellRestored(s, r); perr != nil {
			return perr
		}
	}
	return restoreFailure(s, r, err)
}

func (a *app) tellRestored(s rescue.Snap, r rescue.Restored) error {
	for _, n := range r.NotNested {
		a.warn("not restored: %s: %s", n.Path, n.Why)
	}
	for _, n := range s.Skipped {
		a.warn("never saved: %s: %s", n.Path, n.Why)
	}
	_, err := fmt.Fprintf(a.out, "restored %s into %s, staged and not committed; %s stays until it is dropped\n",
		count(len(r.Paths)+len(r.Nested), "file"), present.Line(r.Dir), s.Ref)
	return err
}

// restoreFailure is err with what to do about it.
func restoreFailure(s rescue.Snap, r rescue.Restored, err error) error {
	dir := shellquote.Join(r.Dir)
	switch {
	case errors.Is(err, rescue.ErrConflict):
		text := fmt.Sprintf("%v:", err)
		for _, path := range r.Conflicts {
			text += "\n  " + path
		}
		return fmt.Errorf("%s\nresolve them and 'git -C %s add' each, or undo it with 'git -C %s reset --hard'; the saved work stays in %s", text, dir, dir, s.Ref)
	case errors.Is(err, rescue.ErrUncommitted):
		return refuse("%v: commit it or move it away first, put the work elsewhere with --into, or --force", err)
	case errors.Is(err, rescue.ErrOtherRepository):
		return refuse("%v: it is in %s", err, s.Repository)
	case errors.Is(err, git.ErrNoDir), errors.Is(err, git.ErrNotRepository), errors.Is(err, git.ErrNoTree), errors.Is(err, git.ErrForeign):
		return refuse("%v", err)
	}
	return err
}

// restoredItem is what a restore came to in JSON.
type restoredItem struct {
	Dir         string       `json:"dir"`
	Paths       []string     `json:"paths"`
	Conflicts   []string     `json:"conflicts"`
	Nested      []string     `json:"nested"`
	NotRestored []rescueNote `json:"notRestored"`
}

func restoredItemOf(r rescue.Restored) restoredItem {
	return restoredItem{
		Dir: r.Dir, Paths: append([]string{}, r.Paths...), Conflicts: append([]string{}, r.Conflicts...),
		Nested: append([]string{}, r.Nested...), NotRestored: rescueNotes(r.NotNested),
	}
}

func newRescueBundleCommand(a *app) *cobra.Command {
	return command(&cobra.Command{
		Use:   "bundle ID FILE",
		Short: "write it to a file that needs nothing of the repository",
		Long: "Writes saved work with its whole history to a file outside the repository (a git bundle). In any repository,\n" +
			"'git fetch FILE \"refs/*:refs/*\"' brings it back.",
		Example: "  agent-sessions rescue bundle 482913 /media/stick/parser.bundle",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			runner, s, err := a.pick(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			err = rescue.Bundle(cmd.Context(), runner, s, args[1])
			if errors.Is(err, fs.ErrExist) {
				return refuse("%s is there already; name another file", args[1])
			} else if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s is in %s; in a repository: %s\n", s.Ref, present.Line(args[1]),
				present.Line(shellquote.Join("git", "fetch", args[1], "refs/*:refs/*")))
			return err
		},
		ValidArgsFunction: completeRescue(a),
	}, exitNoSession, exitRefused)
}

func newRescueDropCommand(a *app) *cobra.Command {
	var yes bool
	cmd := command(&cobra.Command{
		Use:   "drop ID",
		Short: "remove it, for good",
		Long: "Removes saved work that is no longer wanted. Nothing else ever does. git takes the bytes away some weeks later;\n" +
			"until then the commit that it prints still has them.",
		Example: "  agent-sessions rescue drop 482913",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRescueDrop(cmd.Context(), a, args[0], yes)
		},
		ValidArgsFunction: completeRescue(a),
	}, exitNoSession, exitRefused)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func runRescueDrop(ctx context.Context, a *app, word string, yes bool) error {
	runner, s, err := a.pick(ctx, word)
	if err != nil {
		return err
	}
	if !yes {
		if err := a.confirm(present.Line(fmt.Sprintf("Remove %s of %q for good?", count(len(s.Paths), "file"), s.Name()))); err != nil {
			return err
		}
	}
	if err := rescue.Drop(ctx, runner, s); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "dropped %s, which was %s\n", s.Ref, s.Commit)
	return err
}
