package main

import (
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/lookafter"
)

// lookAfter has a sweep started in the background when one is due. Whoever
// called this program waits for nothing and hears of nothing: the next call
// tries again.
func lookAfter(getenv func(string) string, environ []string, now time.Time) {
	root, err := ledger.Root(getenv)
	if err != nil {
		return
	}
	_, _ = lookafter.StartIfDue(ledger.Open(root), now, environ)
}
