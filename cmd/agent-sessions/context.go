package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/contextfiles"
	"agentwrap/internal/gitfacts"
	"agentwrap/internal/ledger"
	"agentwrap/internal/present"
)

func newContextCommand(a *app) *cobra.Command {
	cmd := command(&cobra.Command{
		Use:   "context",
		Short: "tracked context files, for one agent to read what another wrote",
		Long: "Keeps context files for the agents of a working tree in .tmp/sessions, each session's in a folder of its own with\n" +
			"a manifest. Nothing is made before the first file; only files that the manifest tracks are ever deleted.",
		Example: "  agent-sessions context add features user-auth notes.md --for @TaskManager --keyword auth",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	})
	cmd.AddCommand(newContextAddCommand(a), newContextListCommand(a), newContextFindCommand(a), newContextCleanCommand(a))
	return cmd
}

func newContextAddCommand(a *app) *cobra.Command {
	var session string
	var add contextfiles.Addition
	cmd := command(&cobra.Command{
		Use:   "add CATEGORY TASK [FILE]",
		Short: "add a context file and print its path",
		Long: "Adds a file, or standard input where FILE is - or left out, to the session's context files and prints its path.\n" +
			"CATEGORY is one of " + strings.Join(contextfiles.Categories, ", ") + ". A file that is there with other content stays,\n" +
			"unless --replace is given.",
		Example: "  agent-sessions context add tasks user-auth < breakdown.md\n  path=$(agent-sessions context add code login notes.md --for @CoderAgent)",
		Args:    cobra.RangeArgs(2, 3),
		RunE: func(_ *cobra.Command, args []string) error {
			add.Category, add.Task = args[0], args[1]
			return runContextAdd(a, session, add, args[2:])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return contextfiles.Categories, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
	}, exitNoSession, exitRefused)
	sessionFlag(cmd, &session)
	cmd.Flags().StringVar(&add.For, "for", "", "who is to read it, such as @TaskManager")
	cmd.Flags().StringArrayVarP(&add.Keywords, "keyword", "k", nil, "a word to find it by, again for more; the task's name where none is given")
	cmd.Flags().BoolVar(&add.Replace, "replace", false, "replace a tracked file that has other content")
	return cmd
}

func sessionFlag(cmd *cobra.Command, session *string) {
	cmd.Flags().StringVar(session, "session", "", "another session of context files, by its folder's name")
}

func runContextAdd(a *app, session string, add contextfiles.Addition, file []string) error {
	if _, err := contextfiles.FileName(add.Category, add.Task); err != nil {
		return wrongUse("context add: %w", err)
	}
	var err error
	if add.Content, err = a.content(file, contextfiles.Limit); err != nil {
		return fmt.Errorf("context add: %w", err)
	}
	store, ids, err := a.contextFiles()
	var path string
	if err == nil {
		path, _, err = store.Add(session, ids, add)
	}
	switch {
	case errors.Is(err, contextfiles.ErrNoSession):
		return noContextSession(store, err)
	case errors.Is(err, contextfiles.ErrExists):
		return refuse("%v", err)
	case err != nil:
		return fmt.Errorf("%w; pass the context inline instead", err)
	}
	a.keepContext(store)
	_, err = fmt.Fprintln(a.out, path)
	return err
}

// keepContext hides the context files from git and has the sweep know of them.
// The file is there whatever comes of it.
func (a *app) keepContext(store contextfiles.Store) {
	if err := store.Exclude(); err != nil {
		a.warn("%v", err)
	}
	root, err := ledger.Root(a.getenv)
	if err == nil {
		err = store.Register(root)
	}
	if err != nil {
		a.warn("the sweep will not clean these up: %v", err)
	}
}

// content reads the file that is named, or standard input.
func (a *app) content(file []string, limit int64) ([]byte, error) {
	in := a.in
	if len(file) > 0 && file[0] != "-" {
		f, err := os.Open(file[0])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("more than %d bytes were given", limit)
	}
	return raw, err
}

// contextFiles are those of the working tree that this program was called in,
// and the ids of the calling session in the ledger: its own, then those that it
// continues.
func (a *app) contextFiles() (contextfiles.Store, []string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return contextfiles.Store{}, nil, err
	}
	store := contextfiles.Store{Tree: dir, Now: a.now}
	if git := gitfacts.At(dir); git.Root != "" {
		store.Tree, store.CommonDir = git.Root, git.CommonDir
	}
	who := a.caller()
	if row := who.Row(); row != nil {
		return store, who.Ledger.Lineage(row), nil
	}
	return store, nil, nil
}

// contextSession is the session that is meant: the named one, else the
// caller's. Every operation marks it as active.
func (a *app) contextSession(named string) (contextfiles.Store, *contextfiles.Manifest, error) {
	store, ids, err := a.contextFiles()
	if err != nil {
		return store, nil, err
	}
	if named == "" {
		if named, err = store.Of(ids); err != nil {
			return store, nil, noContextSession(store, err)
		}
	}
	m, err := store.Touch(named)
	if errors.Is(err, contextfiles.ErrNoSession) {
		err = noContextSession(store, err)
	}
	return store, m, err
}

// noContextSession is exit 3 with the sessions that there are.
func noContextSession(store contextfiles.Store, err error) error {
	ids, lerr := store.IDs()
	if lerr != nil || len(ids) == 0 {
		return fmt.Errorf("%w: %w in %s: 'context add' begins one", ledger.ErrNoSession, err, store.Tree)
	}
	return fmt.Errorf("%w: %w in %s: choose one with --session: %s", ledger.ErrNoSession, err, store.Tree, strings.Join(ids, ", "))
}

func newContextListCommand(a *app) *cobra.Command {
	var session string
	var asJSON bool
	cmd := command(&cobra.Command{
		Use:     "list",
		Short:   "the session's context files",
		Long:    "Lists the context files that the session tracks: path, who each is for, its keywords, and when it was added.",
		Example: "  agent-sessions context list\n  agent-sessions context list --session 20250118-143022-a4f2 --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runContextList(a, session, "", asJSON) },
	}, exitNoSession)
	sessionFlag(cmd, &session)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func newContextFindCommand(a *app) *cobra.Command {
	var session string
	var asJSON bool
	cmd := command(&cobra.Command{
		Use:     "find KEYWORD",
		Short:   "the session's context files with a keyword",
		Long:    "Lists the session's context files that were added with a keyword. It exits 1 where there is none.",
		Example: "  cat $(agent-sessions context find user-auth | cut -f1)",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runContextList(a, session, args[0], asJSON) },
	}, exitNoSession)
	sessionFlag(cmd, &session)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// contextItem is a file in `context list --json` and `context find --json`.
type contextItem struct {
	Path     string   `json:"path"`
	Session  string   `json:"session_id"`
	Name     string   `json:"name"`
	Created  string   `json:"created"`
	For      string   `json:"for"`
	Keywords []string `json:"keywords"`
	Missing  bool     `json:"missing"`
}

func runContextList(a *app, session, keyword string, asJSON bool) error {
	store, m, err := a.contextSession(session)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(m.ContextFiles))
	if keyword != "" {
		names = m.ContextIndex[keyword]
	}
	items := []contextItem{}
	for _, name := range names {
		if f, tracked := m.ContextFiles[name]; tracked {
			items = append(items, contextItemOf(store.Dir(m.SessionID), m.SessionID, name, f))
		}
	}
	if keyword != "" && len(items) == 0 {
		err = fmt.Errorf("context find: no context file of %s has the keyword %q", m.SessionID, keyword)
	}
	if asJSON {
		return errors.Join(printJSON(a, items), err)
	}
	return errors.Join(a.contextTable(items).Write(a.out, a.screen()), err)
}

func contextItemOf(dir, session, name string, f contextfiles.File) contextItem {
	path := filepath.Join(dir, name)
	_, err := os.Lstat(path)
	return contextItem{Path: path, Session: session, Name: name, Created: f.Created, For: f.For, Keywords: f.Keywords, Missing: err != nil}
}

// ageCell is the age of something that has an RFC 3339 time.
func ageCell(stamp string, now time.Time) present.Cell {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return present.Cell{Text: "?", Raw: stamp}
	}
	return present.Cell{Text: present.Age(now.Sub(at)), Raw: stamp}
}

func (a *app) contextTable(items []contextItem) *present.Table {
	t := &present.Table{Columns: []present.Column{
		{Title: "FILE", Min: 20}, {Title: "FOR", Min: 6, Drop: 2}, {Title: "KEYWORDS", Min: 8, Drop: 1}, {Title: "AGE", Right: true},
	}}
	for _, i := range items {
		age, tone := ageCell(i.Created, a.now()), present.Plain
		if i.Missing {
			age.Text, tone = "missing", present.Alert
		}
		t.Rows = append(t.Rows, []present.Cell{{Text: i.Name, Raw: i.Path, Tone: tone}, {Text: i.For}, {Text: strings.Join(i.Keywords, ", ")}, age})
	}
	return t
}
