package main

import (
	"context"
	"os"

	"golang.org/x/term"

	"agentwrap/internal/host"
	"agentwrap/internal/observe"
	"agentwrap/internal/reopen"
	"agentwrap/internal/runtimes"
)

// desk is what getting back into sessions works on.
func (a *app) desk(view *observe.View, src observe.Sources) reopen.Desk {
	return reopen.Desk{
		Store: src.Store, View: view, Profiles: src.Profiles.For, ShimDir: runtimes.ShimDir(a.getenv), Env: a.env,
		Answers: func(socket string) bool {
			_, err := host.Ask(socket)
			return err == nil
		},
		Settle: func(ctx context.Context, id string) error {
			s, err := a.sweeper()
			if err != nil {
				return err
			}
			return s.Settle(ctx, id)
		},
		Environ: a.nextEnviron(src.Store),
	}
}

// deskFor is the desk with one session on it, by what a user types for its id.
func (a *app) deskFor(ctx context.Context, short string) (reopen.Desk, *observe.Session, error) {
	src, err := a.sources()
	if err != nil {
		return reopen.Desk{}, nil, err
	}
	id, err := src.Store.Resolve(short)
	if err != nil {
		return reopen.Desk{}, nil, err
	}
	s, view, err := observe.One(ctx, src, id, observe.Want{Clients: true, Texts: true})
	if err != nil {
		return reopen.Desk{}, nil, err
	}
	return a.desk(view, src), s, nil
}

// onTerminal tells whether a person is at both ends of this command.
func (a *app) onTerminal() bool {
	in, inOK := a.in.(*os.File)
	out, outOK := a.out.(*os.File)
	return inOK && outOK && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}
