package main

import (
	"context"

	"agentwrap/internal/host"
	"agentwrap/internal/tmuxhost"
)

// hosts asks the places that sessions are hosted in, for observe.
type hosts struct {
	path string // the PATH that programs are looked for in
}

// HolderClients is how many terminals are on the holder at a socket.
func (hosts) HolderClients(ctx context.Context, socket string) (int, error) {
	status, err := inTime(ctx, func() (host.Status, error) { return host.Ask(socket) })
	return status.Terminals, err
}

// AttachedSessions are the sessions of a multiplexer server of the user's own.
func (h hosts) AttachedSessions(ctx context.Context, socket string) (map[string]int, error) {
	program, err := tmuxhost.Find(h.path)
	if err != nil {
		return nil, err
	}
	return inTime(ctx, tmuxhost.Server{Program: program, Socket: socket}.Attached)
}

// inTime asks, and leaves one that does not answer in time to its answer.
func inTime[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		value, err := ask()
		answered <- answer{value, err}
	}()
	select {
	case got := <-answered:
		return got.value, got.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
