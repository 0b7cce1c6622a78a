// Package doctor tells what is wrong on this machine: facts are gathered by
// thin hands, and one pure function judges them, each finding with the command
// that mends it.
package doctor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Level is how bad a finding is.
type Level string

const (
	OK   Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
)

// Finding is one line of the report.
type Finding struct {
	// Check names what was looked at, in one or two words.
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	// Mend is the command that mends it, "" where there is nothing to mend.
	Mend string `json:"mend"`
}

// Facts are what Judge judges by.
type Facts struct {
	Now      time.Time
	ShimDir  string
	Shells   []Shell
	Runtimes []Runtime
	Mux      Mux
	Manager  Manager
	Ledger   Ledger
	Hooks    []Hook
	// Settings are what is wrong with the user's settings.
	Settings []error
	// Stores is what cannot be read of the files beside the ledger.
	Stores   []error
	Sessions Sessions
}

// Shell is a shell of this user's, as it looks for programs.
type Shell struct {
	Name string
	// Path are the folders that it searches, in order.
	Path []string
	// Bypass are covered names that mean something else there: the word that
	// the shell itself has for it (alias, function).
	Bypass map[string]string
	Err    error
}

// Runtime is a covered CLI.
type Runtime struct {
	Name string
	// ShimProblem says what is wrong with its link, "" for nothing.
	ShimProblem string
	// Program is the real CLI, "" for none; Passed says what was passed over.
	Program, Passed string
	// Folders are all folders on PATH that hold a real program of the name.
	Folders []string
	// Version is what it says of itself.
	Version    string
	VersionErr error
}

// Mux is the tmux that keeps screens and histories.
type Mux struct {
	Path, Version string
	Err           error
	// CanInstall tells that this user may bring packages to this machine.
	CanInstall bool
}

// Manager is the user's service manager.
type Manager struct {
	Answers bool
	// TimerArmed tells that the sweep's timer waits; Linger that the manager
	// outlives the last logout.
	TimerArmed, Linger bool
	User               string
}

// Ledger is the state on disk.
type Ledger struct {
	Root string
	Err  error
	// Entries that can be read, Damaged the files that cannot.
	Entries   int
	Damaged   []string
	FreeBytes uint64
	LastSweep time.Time
}

// States of a CLI's hooks beside those that hookconfig has words for.
const (
	HooksInstalled  = "installed"
	HooksUnreadable = "unreadable"
	HooksOff        = "off"
)

// Hook is the hook settings of a CLI that has hooks.
type Hook struct {
	Runtime string
	// State is one of those above or another word for hooks that do not tell of
	// sessions; Detail says more.
	State, Detail string
	// LastSeen is when one last told of a session, zero for never.
	LastSeen time.Time
}

// Sessions are facts of the sessions themselves.
type Sessions struct {
	// Unshimmed are recent sessions that no shim started, by runtime.
	Unshimmed map[string]int
	// Expiring are sessions whose conversation the CLI itself deletes soon.
	Expiring int
	// FirstExpiry is when the first goes.
	FirstExpiry time.Time
}

// Judge turns facts into findings, in the order in which they are read.
func Judge(f Facts) []Finding {
	var all []Finding
	for _, judge := range []func(Facts) []Finding{shells, runtimesFound, mux, hooks, manager, ledgerHealth, storesHealth, settingsHealth, sessionsSeen} {
		all = append(all, judge(f)...)
	}
	return all
}

// Worst is the worst level among findings.
func Worst(all []Finding) Level {
	worst := OK
	for _, f := range all {
		if f.Level == Fail || f.Level == Warn && worst == OK {
			worst = f.Level
		}
	}
	return worst
}

const reinstall = "./install.sh"

func shells(f Facts) (all []Finding) {
	for _, sh := range f.Shells {
		all = append(all, f.shell(sh)...)
	}
	return all
}

func (f Facts) shell(sh Shell) (all []Finding) {
	at := slices.Index(sh.Path, f.ShimDir)
	switch {
	case sh.Err != nil:
		return []Finding{{"PATH", Warn, fmt.Sprintf("%s did not say where it looks for programs: %v", sh.Name, sh.Err), ""}}
	case at < 0:
		return []Finding{{"PATH", Fail, fmt.Sprintf("%s does not look in %s: nothing typed there is covered", sh.Name, f.ShimDir), reinstall + "; then open a new terminal"}}
	}
	for _, r := range f.Runtimes {
		if dir := before(sh.Path[:at], r.Folders); dir != "" {
			all = append(all, Finding{"PATH", Fail, fmt.Sprintf("%s finds %s in %s before the shim", sh.Name, r.Name, dir),
				"put the agentwrap block last in the start-up file of " + sh.Name})
		}
		if what := sh.Bypass[r.Name]; what != "" {
			all = append(all, Finding{"PATH", Warn, fmt.Sprintf("in %s, %s is %s, which may go past the shim", sh.Name, r.Name, what), "remove it from the start-up file of " + sh.Name})
		}
	}
	if slices.ContainsFunc(sh.Path[:at], func(dir string) bool { return !filepath.IsAbs(dir) }) {
		all = append(all, Finding{"PATH", Warn, sh.Name + " looks in the working directory before the shims", "take . and empty parts out of PATH"})
	}
	if len(all) == 0 {
		all = []Finding{{"PATH", OK, sh.Name + " finds the shims first", ""}}
	}
	return all
}

func before(earlier, folders []string) string {
	for _, dir := range earlier {
		if slices.Contains(folders, dir) {
			return dir
		}
	}
	return ""
}

func runtimesFound(f Facts) (all []Finding) {
	if len(f.Runtimes) == 0 {
		return []Finding{{"CLIs", Fail, "no CLI is covered: " + f.ShimDir + " has no links", reinstall}}
	}
	for _, r := range f.Runtimes {
		switch {
		case r.ShimProblem != "":
			all = append(all, Finding{r.Name, Fail, "its shim " + r.ShimProblem, reinstall})
		case r.Program == "":
			all = append(all, Finding{r.Name, Warn, "its shim is there, the CLI is not: " + r.Passed, "install it, or rm " + filepath.Join(f.ShimDir, r.Name)})
		case r.VersionErr != nil:
			all = append(all, Finding{r.Name, Warn, fmt.Sprintf("%s --version failed: %v", r.Program, r.VersionErr), "install it again"})
		default:
			all = append(all, Finding{r.Name, OK, strings.TrimSpace(r.Program + " " + r.Version), ""})
		}
		if r.Program != "" && r.Passed != "" {
			all = append(all, Finding{r.Name, Warn, "passed over: " + r.Passed, ""})
		}
	}
	return all
}
