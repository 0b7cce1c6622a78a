package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// lowSpace is how little free space is told, in bytes.
	lowSpace = 100 << 20
	// sweepLate is how old the last sweep may be.
	sweepLate = 10 * time.Minute
	// oldestMux is the oldest tmux that the hosting is tested with.
	oldestMux = "3.3"
)

func mux(f Facts) []Finding {
	const without = "sessions outlive their terminal all the same, with only the end of their output when you get back"
	mend := "install the package tmux"
	if f.Mux.CanInstall {
		mend = "apt-get install tmux"
	}
	switch {
	case f.Mux.Path == "":
		return []Finding{{"tmux", Warn, "not installed: " + without, mend}}
	case f.Mux.Err != nil:
		return []Finding{{"tmux", Warn, fmt.Sprintf("%s does not work (%v): %s", f.Mux.Path, f.Mux.Err, without), mend}}
	case older(f.Mux.Version, oldestMux):
		return []Finding{{"tmux", Warn, f.Mux.Version + " is older than " + oldestMux + ", with which nothing was tried", mend}}
	}
	return []Finding{{"tmux", OK, f.Mux.Path + " " + f.Mux.Version, ""}}
}

// older compares versions of the form 3.3a by their numbers.
func older(version, than string) bool {
	var major, minor, thanMajor, thanMinor int
	if n, _ := fmt.Sscanf(strings.TrimPrefix(version, "next-"), "%d.%d", &major, &minor); n < 2 {
		return false // a version of another form is a newer one
	}
	_, _ = fmt.Sscanf(than, "%d.%d", &thanMajor, &thanMinor)
	return major < thanMajor || major == thanMajor && minor < thanMinor
}

func hooks(f Facts) (all []Finding) {
	for _, h := range f.Hooks {
		check, mend := h.Runtime+" hooks", "agent-sessions hooks install "+h.Runtime
		switch {
		case h.State == HooksInstalled && h.LastSeen.IsZero():
			all = append(all, Finding{check, OK, "installed; none has told of a session yet", ""})
		case h.State == HooksInstalled:
			all = append(all, Finding{check, OK, "installed; last seen " + h.LastSeen.UTC().Format(time.RFC3339), ""})
		case h.State == HooksUnreadable:
			all = append(all, Finding{check, Warn, h.Detail, "mend that file; then: " + mend})
		case h.State == HooksOff:
			all = append(all, Finding{check, Warn, h.Detail, "take that setting out"})
		default:
			all = append(all, Finding{check, Warn, h.State + ": its sessions' turns and ends are not told", mend})
		}
	}
	return all
}

func manager(f Facts) []Finding {
	if !f.Manager.Answers {
		if f.Ledger.LastSweep.IsZero() || f.Now.Sub(f.Ledger.LastSweep) < sweepLate {
			return []Finding{{"sweep", OK, "no service manager for this user: lists, hooks and sessions look after the ledger", ""}}
		}
		return []Finding{{"sweep", OK, "no service manager for this user; the last sweep was " + f.Ledger.LastSweep.UTC().Format(time.RFC3339), ""}}
	}
	var all []Finding
	switch {
	case !f.Manager.TimerArmed:
		all = append(all, Finding{"sweep", Warn, "its timer is not armed", "systemctl --user enable --now agent-session-sweep.timer"})
	case !f.Ledger.LastSweep.IsZero() && f.Now.Sub(f.Ledger.LastSweep) > sweepLate:
		all = append(all, Finding{"sweep", Warn, "the timer is armed, yet the last sweep was " + f.Ledger.LastSweep.UTC().Format(time.RFC3339), "journalctl --user -u agent-session-sweep"})
	default:
		all = append(all, Finding{"sweep", OK, "its timer is armed", ""})
	}
	if !f.Manager.Linger {
		return append(all, Finding{"linger", Warn, "sessions end with your last logout", "loginctl enable-linger " + f.Manager.User})
	}
	return append(all, Finding{"linger", OK, "sessions outlive your last logout", ""})
}

func ledgerHealth(f Facts) (all []Finding) {
	l := f.Ledger
	if l.Err != nil {
		return []Finding{{"ledger", Fail, l.Err.Error(), "see to " + l.Root + ", or choose another folder with AGENT_SESSIONS_DIR"}}
	}
	all = append(all, Finding{"ledger", OK, fmt.Sprintf("%s holds %d sessions", l.Root, l.Entries), ""})
	for _, d := range l.Damaged {
		all = append(all, Finding{"ledger", Fail, d, "agent-sessions doctor --repair"})
	}
	if l.FreeBytes < lowSpace {
		all = append(all, Finding{"disk", Fail, fmt.Sprintf("%d MB are free where the ledger is", l.FreeBytes>>20), "make room there"})
	}
	return all
}

func storesHealth(f Facts) (all []Finding) {
	for _, err := range f.Stores {
		all = append(all, Finding{"stores", Warn, err.Error(), "look at that file, then mend it or move it away"})
	}
	return all
}

func settingsHealth(f Facts) (all []Finding) {
	for _, err := range f.Settings {
		all = append(all, Finding{"settings", Warn, err.Error(), "mend that file; until then the default stands"})
	}
	return all
}

func sessionsSeen(f Facts) (all []Finding) {
	for _, runtime := range slices.Sorted(maps.Keys(f.Sessions.Unshimmed)) {
		all = append(all, Finding{"coverage", Warn,
			fmt.Sprintf("%d recent sessions of %s were not started through the shim: they end with their terminal", f.Sessions.Unshimmed[runtime], runtime),
			"start them by typing " + runtime})
	}
	if f.Sessions.Expiring > 0 {
		all = append(all, Finding{"conversations", Warn,
			fmt.Sprintf("the CLI itself deletes %d soon, the first at %s", f.Sessions.Expiring, f.Sessions.FirstExpiry.UTC().Format(time.RFC3339)),
			"raise cleanupPeriodDays in its settings"})
	}
	return all
}
