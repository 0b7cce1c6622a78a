package launch

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/enrol"
	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
	"agentwrap/internal/scratch"
	"agentwrap/internal/statefile"
)

// lockWait is how long a launch waits for an entry's lock.
const lockWait = 250 * time.Millisecond

// recordBirth writes the session's record, before there is a CLI, and puts its
// id and its scratch folder into the CLI's environment. Without a ledger that
// can be written the session goes without a record.
func (l *launch) recordBirth() {
	subject, err := l.look().Self(l.name, l.argv[1:], l.env)
	if err != nil {
		// Without /proc nothing is proved but the time.
		subject = enrol.Unseen(l.name, l.env, time.Now())
	}
	l.entry = enrol.Birth(subject)
	l.entry.EnrolledBy = ledger.EnrolledByShim
	l.entry.LauncherPID = ledger.Ptr(os.Getpid())
	l.entry.ClientTTY = ledger.Known(enrol.ClientTTY(0))
	l.entry.ResumedFrom = l.resumed()
	l.entry.Program = ledger.Ptr(l.found.Candidates[0])
	// A hosted CLI has another process and another terminal than this one.
	l.entry.TTY = nil
	l.host = l.wantsHost()
	l.entry.Interactive = ledger.Ptr(l.host || l.interactive())
	if !l.host {
		l.claim(subject.Identity, subject.TTY)
	}
	l.create()
}

// claim says that the session's process is this one, which is about to become
// the CLI.
func (l *launch) claim(id process.Identity, tty string) {
	if id.PID != 0 {
		l.entry.PID, l.entry.PIDStartTicks = ledger.Ptr(id.PID), ledger.Ptr(id.StartTicks)
	}
	l.entry.TTY = ledger.Known(tty)
}

func (l *launch) create() {
	err := l.openStore()
	if err == nil {
		err = l.store.CreateNamed(l.entry, l.durability(), l.makeScratch)
	}
	if l.recorded = err == nil; !l.recorded {
		l.entry.LedgerID = ledger.NewID(l.name, time.Now())
		l.unrecorded = err
		l.warn("this session is not recorded and ends with its terminal: " + err.Error())
	}
	l.closeResumed()
	l.env = l.env.without(resumedFromVar).with("AGENT_LEDGER_ID", l.entry.LedgerID)
	if dir := ledger.Value(l.entry.Scratch); dir != "" {
		l.env = l.env.with(scratch.Var, dir)
	}
}

func (l *launch) openStore() error {
	root, err := ledger.Root(l.env.get)
	if err == nil {
		l.store = ledger.Open(root)
	}
	return err
}

// makeScratch makes the session's own folder, or keeps the one that a launching
// agent (or a resume) handed down.
func (l *launch) makeScratch(e *ledger.Entry) {
	if inherited := l.env.get(scratch.Var); inherited != "" {
		e.Scratch = ledger.Ptr(inherited)
		return
	}
	root, err := scratch.Root(l.env.get)
	if err != nil {
		return
	}
	dir, err := scratch.MakeNew(root, e.LedgerID)
	if err != nil {
		l.warn("no scratch folder for this session: " + err.Error())
		return
	}
	e.Scratch = ledger.Ptr(dir)
}

func (l *launch) durability() statefile.Durability {
	if l.env.get("AGENT_SESSIONS_SYNC") == "1" {
		return statefile.Synced
	}
	return statefile.Soon
}

// look knows the covered runtimes by the shim folder's symlinks, read only when
// an ancestor is looked at. An agent above a shim's launch hands its session
// down in the environment, so that its row is not searched for here.
func (l *launch) look() enrol.Look {
	var names []string
	read := false
	return enrol.Look{Profiles: l.profiles, Covered: func(name string) bool {
		if !read {
			// An unreadable shim folder covers nothing: no ancestor is named.
			names, _ = runtimes.Covered(runtimes.ShimDir(l.env.get))
			read = true
		}
		return slices.Contains(names, name)
	}}
}

// interactive tells a session on a terminal.
func (l *launch) interactive() bool {
	return l.kind == runtimes.Interactive && isTerminal(0) && isTerminal(1)
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// recordInPlace says that this process itself becomes the CLI after all,
// because it could not be hosted.
func (l *launch) recordInPlace() {
	id, err := process.Self()
	if err != nil || !l.recorded {
		return
	}
	err = l.store.Update(l.entry.LedgerID, ledger.Within(lockWait), func(e *ledger.Entry) error {
		e.PID, e.PIDStartTicks = ledger.Ptr(id.PID), ledger.Ptr(id.StartTicks)
		e.LauncherPID = ledger.Ptr(id.PID)
		e.TTY = e.ClientTTY
		return nil
	})
	if err != nil {
		l.warn("this session's record is not complete: " + err.Error())
	}
}

// recordNotStarted closes the record of a session that never was.
func (l *launch) recordNotStarted() {
	if !l.recorded {
		return
	}
	err := l.store.Update(l.entry.LedgerID, ledger.Durable(lockWait), func(e *ledger.Entry) error {
		e.FinishedAt, e.EndedBy = ledger.At(time.Now()), ledger.Ptr(ledger.EndedByUser)
		e.FinishReason = ledger.Ptr("could not be started")
		return nil
	})
	if err != nil {
		l.warn("this session's record stays open: " + err.Error())
	}
	l.reopenResumed()
}
