package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"agentwrap/internal/git"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/opencodedb"
	"agentwrap/internal/present"
	"agentwrap/internal/runstore"
	"agentwrap/internal/runtimes"
)

// app is what every command works with: its streams, its environment as a
// value, and what is opened by it. A command reads nothing global.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      []string // KEY=VALUE; the last of a key counts, as for exec
	now      func() time.Time
}

func systemApp() *app {
	return &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ(), now: time.Now}
}

// run carries out one command line and returns the exit code.
func run(a *app, args []string) int {
	err := newRoot(a).execute(context.Background(), args)
	if err != nil {
		a.complain(err)
	}
	return exitCode(err)
}

// getenv is a variable of the environment, or "".
func (a *app) getenv(name string) string {
	for i := len(a.env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// store is the ledger of this environment.
func (a *app) store() (*ledger.Store, error) {
	root, err := ledger.Root(a.getenv)
	if err != nil {
		return nil, err
	}
	store := ledger.Open(root)
	store.Watch(journal(a.getenv))
	return store, nil
}

// journal writes what changes in the ledger into the sessions' event logs.
func journal(getenv func(string) string) func(before, after *ledger.Entry) {
	runs, err := runstore.NewFileStore("", getenv)
	if err != nil {
		return nil
	}
	return runs.Journal
}

// sources are where the facts about all sessions come from.
func (a *app) sources() (observe.Sources, error) {
	store, err := a.store()
	if err != nil {
		return observe.Sources{}, err
	}
	covered, err := runtimes.Covered(runtimes.ShimDir(a.getenv))
	if err != nil {
		a.warn("%v", err)
	}
	src := observe.Sources{
		Store: store, Profiles: runtimes.KnownTo(a.getenv).For, Home: a.getenv("HOME"), OpencodeStore: opencodedb.Path(a.getenv), Hosts: hosts{a.getenv("PATH")}, Now: a.now,
		Covered: func(name string) bool { return slices.Contains(covered, name) },
	}
	if runner, err := git.New(a.env); err == nil {
		src.Dirty = func(ctx context.Context, folders []string) map[string]git.Dirty {
			return runner.DirtyCounts(ctx, folders, dirtyLimit)
		}
	}
	return src, nil
}

// session is the one that a person means by a short form of its id.
func (a *app) session(ctx context.Context, short string, want observe.Want) (*observe.Session, error) {
	src, err := a.sources()
	if err != nil {
		return nil, err
	}
	id, err := src.Store.Resolve(short)
	if err != nil {
		return nil, err
	}
	s, _, err := observe.One(ctx, src, id, want)
	return s, err
}

// dirtyLimit bounds the count of uncommitted files in all working trees
// together: a listing goes on without those that are not known by then.
const dirtyLimit = 2 * time.Second

// untilInterrupted ends with whatever ends a command that goes on.
func untilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// runs is the run store of this environment.
func (a *app) runs() (*runstore.FileStore, error) { return runstore.NewFileStore("", a.getenv) }

// row is the entry that a short id means.
func (a *app) row(short string) (*ledger.Entry, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	id, err := store.Resolve(short)
	if err != nil {
		return nil, err
	}
	return store.Read(id)
}

// screen is what the output is shown on.
func (a *app) screen() present.Screen { return present.ScreenOf(a.out, a.getenv) }

// complain tells an error on stderr: one for each line of its text, since a
// joined error has several.
func (a *app) complain(err error) {
	for line := range strings.Lines(err.Error()) {
		a.warn("%s", line)
	}
}

// warn tells one thing on stderr and goes on.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintf(a.err, "agent-sessions: %s\n", present.Line(fmt.Sprintf(format, args...)))
}
