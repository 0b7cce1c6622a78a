package host

import (
	"slices"
	"strings"
	"time"

	"agentwrap/internal/lookafter"
)

// lookAfter has the sessions of this ledger looked after for as long as this one lasts, where no timer does
// it. It is nothing that the session waits for: what fails is tried again.
func (h *holder) lookAfter(environ []string) {
	for range time.NewTicker(lookafter.Interval).C {
		if wait, err := lookafter.StartIfDue(h.store, time.Now(), environ); err == nil && wait != nil {
			_ = wait()
		}
	}
}

// ownersEnvironment is the environment of whoever launched the session, without what makes it the session's:
// a sweep is nobody's child.
func ownersEnvironment(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "AGENT_LEDGER_ID" || name == "OPENAGENTS_SCRATCH"
	})
}
