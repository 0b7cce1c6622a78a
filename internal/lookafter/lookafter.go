// Package lookafter starts a sweep in the background when nobody has swept for
// a minute: for lists, hooks and session hosts, on machines without a timer.
package lookafter

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"agentwrap/internal/ledger"
)

// Interval is how often sessions are looked after.
const Interval = time.Minute

// Due tells whether the last sweep began and ended more than Interval ago. A
// time to come (the clock was set back) counts as long ago.
func Due(store *ledger.Store, now time.Time) bool {
	last, err := store.LastSweep()
	recent := func(t time.Time) bool {
		age := now.Sub(t)
		return age <= Interval && age >= -ledger.ClockSlack
	}
	return err != nil || !recent(last.CompletedAt) && !recent(last.BegunAt)
}

// OffVar, set to 1 in the environment, keeps sweeps from being started in the
// background.
const OffVar = "AGENT_SESSIONS_NO_SWEEP"

// StartIfDue starts agent-sessions sweep in the background, from the folder of
// the running program, when one is due. The sweep leads a session of its own
// and outlives its starter. wait waits for its end; whoever ends before need
// not call it. It is nil where nothing was started.
func StartIfDue(store *ledger.Store, now time.Time, environ []string) (wait func() error, err error) {
	if slices.Contains(environ, OffVar+"=1") || !Due(store, now) {
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(filepath.Dir(self), "agent-sessions")
	cmd := exec.Command(program, "sweep", "--quiet")
	cmd.Dir, cmd.Env = "/", environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return cmd.Wait, nil
}
