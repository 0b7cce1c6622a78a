package main

import (
	"context"
	"errors"

	"agentwrap/internal/host"
)

// hosts asks the places that sessions are hosted in, for observe.
type hosts struct{}

// HolderClients is how many terminals are on the holder at a socket. One that
// does not answer in time is left to its answer.
func (hosts) HolderClients(ctx context.Context, socket string) (int, error) {
	type answer struct {
		status host.Status
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		status, err := host.Ask(socket)
		answered <- answer{status, err}
	}()
	select {
	case got := <-answered:
		return got.status.Terminals, got.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// AttachedSessions are the sessions of a multiplexer server of the user's own.
func (hosts) AttachedSessions(context.Context, string) (map[string]int, error) {
	return nil, errors.New("the user's own multiplexer is not asked")
}
