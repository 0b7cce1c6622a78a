// Package stop ends a session with its whole tree of processes, politely first.
// It is the only code that signals another session's processes; every signal
// goes through a handle of the very process that was checked (pidfd), so that a
// pid that was given away meanwhile is never hit.
package stop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
	"agentwrap/internal/procscan"
	"agentwrap/internal/runtimes"
)

// ErrGone is wrapped by the error for a session whose process runs no more.
var ErrGone = errors.New("its process is gone")

// ErrInside is wrapped by the error for a session that the caller runs in: it
// would be ended before its work was done.
var ErrInside = errors.New("this command runs inside that session")

// ErrShared is wrapped by the error for a daemon that several sessions share.
var ErrShared = errors.New("it is a daemon that other sessions may use too")

// Grace is how long each step may take before the next one follows.
type Grace struct {
	// Polite is for the CLI alone, which is asked first (SIGTERM to its own
	// process), so that it can end what it started and run its hooks.
	Polite time.Duration
	// Term is for the whole tree after SIGTERM.
	Term time.Duration
	// Kill is for the kernel after SIGKILL.
	Kill time.Duration
}

// DefaultGrace is long enough for the CLIs' own end: their hooks run in it.
var DefaultGrace = Grace{Polite: 5 * time.Second, Term: 3 * time.Second, Kill: 5 * time.Second}

// Outcome is what an end took.
type Outcome struct {
	// Signal is the strongest that was needed: SIGTERM or SIGKILL.
	Signal unix.Signal
	// Ended are the processes that were there and are gone.
	Ended int
	// Left are processes that did not even end by SIGKILL, as one does not that
	// waits for a dead disk.
	Left []process.Stat
	// Strays are processes that the session started and that left its tree
	// before, as a server in the background does: found by the session's id in
	// their environment. They go on, unless they were to be ended too.
	Strays []process.Stat
}

// Order is how a session is to be ended.
type Order struct {
	Grace Grace
	// Strays says to end those too.
	Strays bool
}

// Tree ends the process of a session with an id (AGENT_LEDGER_ID in its
// environment) and its tree. Daemons that several sessions share are spared. It
// returns once all are gone, or with those Left; a cancelled context ends it
// between two signals.
func Tree(ctx context.Context, id string, root process.Identity, o Order) (Outcome, error) {
	if alive, err := root.Alive(); err != nil || !alive {
		return Outcome{}, errors.Join(fmt.Errorf("stop process %d: %w", root.PID, ErrGone), err)
	}
	e := &ending{id: id, root: root, handles: map[int]*handle{}, outcome: Outcome{Signal: unix.SIGTERM}}
	defer e.close()
	members, err := e.begin(o.Strays)
	if err != nil {
		return Outcome{}, err
	}
	if slices.ContainsFunc(members, func(st process.Stat) bool { return st.PID == os.Getpid() }) {
		return Outcome{}, fmt.Errorf("stop process %d: %w", root.PID, ErrInside)
	}
	if e.handles[root.PID] == nil {
		return Outcome{}, fmt.Errorf("stop process %d: %w", root.PID, ErrShared)
	}
	err = e.run(ctx, o.Grace)
	return e.outcome, err
}

// ending is one tree that is being ended.
type ending struct {
	id      string
	root    process.Identity
	before  map[process.Identity]bool // what ran when the end began
	known   []process.Identity        // what was found to belong to the tree
	handles map[int]*handle           // on those, by pid
	outcome Outcome
}

func (e *ending) run(ctx context.Context, g Grace) error {
	if profile, _, known := runtimeOf(e.root.PID); !known || !profile.DeafWrapper {
		if err := e.ask(ctx, g.Polite); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		signal unix.Signal
		grace  time.Duration
	}{{unix.SIGTERM, g.Term}, {unix.SIGKILL, g.Kill}} {
		gone, err := e.step(ctx, step.signal, time.Now().Add(step.grace))
		if gone || err != nil {
			return err
		}
	}
	left, err := e.look()
	e.outcome.Left = left
	e.outcome.Ended = len(e.known) - len(left)
	return err
}

// ask signals the CLI's own process alone, so that it can end what it started.
func (e *ending) ask(ctx context.Context, grace time.Duration) error {
	root := e.handles[e.root.PID]
	if err := root.signal(unix.SIGTERM); err != nil {
		return err
	}
	_, err := waitFor(ctx, []*handle{root}, time.Now().Add(grace))
	return err
}

// step signals the tree, and whatever it starts meanwhile, until nothing is
// left of it or the time is over.
func (e *ending) step(ctx context.Context, signal unix.Signal, until time.Time) (gone bool, err error) {
	told := map[int]bool{}
	for {
		members, err := e.look()
		if err != nil {
			return false, err
		}
		if len(members) == 0 {
			e.outcome.Ended = len(e.known)
			return true, nil
		}
		if !time.Now().Before(until) {
			return false, nil
		}
		e.outcome.Signal = signal
		var waits []*handle
		for _, st := range members {
			h := e.handles[st.PID]
			if waits = append(waits, h); told[st.PID] {
				continue
			}
			told[st.PID] = true
			if err := h.signal(signal); err != nil {
				return false, err
			}
		}
		if _, err := waitFor(ctx, waits, until); err != nil {
			return false, err
		}
	}
}

// begin looks at everything that runs: the tree, and what strayed from it, which
// belongs to it from now on if strays are to be ended.
func (e *ending) begin(strays bool) ([]process.Stat, error) {
	all, err := process.All()
	if err != nil {
		return nil, err
	}
	e.before = map[process.Identity]bool{}
	var carriers []process.Identity
	for _, st := range all {
		e.before[e.identity(st)] = true
		if e.carried(st.PID) && !procscan.RunsOurs(st.PID) {
			carriers = append(carriers, e.identity(st))
		}
	}
	own := tree(all, e.root, nil, shared)
	for _, st := range tree(all, e.root, carriers, shared) {
		if !slices.Contains(own, st) {
			e.outcome.Strays = append(e.outcome.Strays, st)
		}
	}
	if strays {
		own, e.outcome.Strays = append(own, e.outcome.Strays...), nil
	}
	return e.holdAll(own)
}

// look finds the tree as it is now.
func (e *ending) look() ([]process.Stat, error) {
	all, err := process.All()
	if err != nil {
		return nil, err
	}
	return e.holdAll(tree(all, e.root, append(e.newcomers(all), e.known...), shared))
}

// holdAll opens a handle on each process that has none yet, and gives those
// that are still there.
func (e *ending) holdAll(stats []process.Stat) (there []process.Stat, err error) {
	for _, st := range stats {
		held, err := e.hold(st)
		if err != nil {
			return nil, err
		}
		if held {
			there = append(there, st)
		}
	}
	return there, nil
}

// newcomers are processes that were started since the end began and carry the
// session's id: one that starts another on its way out leaves it without a
// parent.
func (e *ending) newcomers(all []process.Stat) (fresh []process.Identity) {
	for _, st := range all {
		if id := e.identity(st); !e.before[id] && e.carried(st.PID) {
			fresh = append(fresh, id)
		}
	}
	return fresh
}

// carried tells whether a process has the session's id. One whose environment
// cannot be read proves nothing.
func (e *ending) carried(pid int) bool {
	env, err := process.Environ(pid)
	return err == nil && slices.Contains(env, "AGENT_LEDGER_ID="+e.id)
}

func (e *ending) identity(st process.Stat) process.Identity {
	return process.Identity{BootID: e.root.BootID, PID: st.PID, StartTicks: st.StartTicks}
}

func (e *ending) hold(st process.Stat) (there bool, err error) {
	id := e.identity(st)
	if slices.Contains(e.known, id) {
		return true, nil
	}
	h, err := open(id)
	if h == nil || err != nil {
		return false, err
	}
	if old := e.handles[id.PID]; old != nil {
		old.close()
	}
	e.known, e.handles[id.PID] = append(e.known, id), h
	return true, nil
}

func (e *ending) close() {
	for _, h := range e.handles {
		h.close()
	}
}

// shared tells whether a process is a daemon of an agent CLI that other
// sessions may use too. One that cannot be looked at is none that is known.
func shared(st process.Stat) bool {
	profile, args, known := runtimeOf(st.PID)
	return known && profile.IsDaemon(args)
}

// runtimeOf is the agent CLI that a process runs, with the arguments behind its
// name.
func runtimeOf(pid int) (profile runtimes.Profile, args []string, known bool) {
	argv, err := process.Cmdline(pid)
	if err != nil {
		return profile, nil, false
	}
	name, args, known := runtimes.Match(argv, "", runtimes.IsKnown)
	return runtimes.For(name), args, known
}
