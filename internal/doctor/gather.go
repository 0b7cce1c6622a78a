package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/observe"
	"agentwrap/internal/realcli"
	"agentwrap/internal/runtimes"
)

const (
	// askWait bounds each program that is asked something.
	askWait = 10 * time.Second
	// recent is how far back sessions without a shim are counted.
	recent = 7 * 24 * time.Hour
	// expirySoon is when a conversation's end is told.
	expirySoon = 3 * 24 * time.Hour
)

// Machine is where facts are gathered.
type Machine struct {
	Getenv  func(string) string
	Environ []string
	// Self is a path to agentwrap itself, which is no real CLI.
	Self string
	View *observe.View
	Root string
	// Unreadable is why the ledger could not be read.
	Unreadable error
	Settings   []error
	// Stores is what cannot be read of the files beside the ledger.
	Stores []error
	Hooks  []Hook
	// Mux is the tmux that was found, FindErr why none was.
	MuxPath string
	Now     time.Time
}

// Gather asks the machine. It fails at nothing: what cannot be found out is a
// fact too.
func (m Machine) Gather(ctx context.Context) Facts {
	shims := runtimes.ShimDir(m.Getenv)
	names, _ := runtimes.Covered(shims)
	f := Facts{Now: m.Now, ShimDir: shims, Settings: m.Settings, Stores: m.Stores, Hooks: m.Hooks, Runtimes: make([]Runtime, len(names))}
	var work sync.WaitGroup
	work.Go(func() { f.Shells = m.shells(ctx, names) })
	work.Go(func() { f.Mux = m.mux(ctx) })
	work.Go(func() { f.Manager = m.manager(ctx) })
	for i, name := range names {
		work.Go(func() { f.Runtimes[i] = m.runtime(ctx, shims, name) })
	}
	work.Wait()
	f.Ledger, f.Sessions = m.ledger(), m.sessions()
	return f
}

func (m Machine) runtime(ctx context.Context, shims, name string) Runtime {
	r := Runtime{Name: name, ShimProblem: m.shimProblem(filepath.Join(shims, name))}
	found := realcli.Find(name, m.Getenv("PATH"), m.Self)
	for _, path := range found.Candidates {
		r.Folders = append(r.Folders, filepath.Dir(path))
	}
	var passed []string
	for _, p := range found.Passed {
		if p.Why != "agentwrap itself" {
			passed = append(passed, p.Path+" is "+p.Why)
		}
	}
	r.Passed = strings.Join(passed, "; ")
	if len(found.Candidates) == 0 {
		r.Passed = found.Explain()
		return r
	}
	r.Program = found.Candidates[0]
	out, err := m.ask(ctx, r.Program, "--version")
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	r.Version, r.VersionErr = first, err
	return r
}

// shimProblem: a link that leads to another program than the one that the user
// has now was left by an older installation.
func (m Machine) shimProblem(link string) string {
	var at, self unix.Stat_t
	if err := unix.Stat(link, &at); err != nil {
		return "leads nowhere: " + err.Error()
	}
	if err := unix.Stat(m.Self, &self); err == nil && (at.Ino != self.Ino || at.Dev != self.Dev) {
		return "leads to another program than " + m.Self
	}
	return ""
}

func (m Machine) mux(ctx context.Context) Mux {
	_, err := exec.LookPath("apt-get")
	f := Mux{Path: m.MuxPath, CanInstall: err == nil}
	if f.Path == "" {
		return f
	}
	var out string
	if out, f.Err = m.ask(ctx, f.Path, "-V"); f.Err == nil {
		f.Version = strings.TrimPrefix(strings.TrimSpace(out), "tmux ")
	}
	return f
}

func (m Machine) manager(ctx context.Context) Manager {
	f := Manager{User: m.Getenv("USER")}
	if f.User == "" {
		f.User = strconv.Itoa(os.Getuid())
	}
	if _, err := m.ask(ctx, "systemctl", "--user", "show-environment"); err != nil {
		return f
	}
	f.Answers = true
	_, err := m.ask(ctx, "systemctl", "--user", "is-active", "--quiet", "agent-session-sweep.timer")
	f.TimerArmed = err == nil
	_, err = os.Stat(filepath.Join("/var/lib/systemd/linger", f.User))
	f.Linger = err == nil
	return f
}

// ask runs a program and returns what it says, within bounds.
func (m Machine) ask(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.WaitDelay = m.Environ, time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("no answer within %v", askWait)
	}
	return string(out), err
}

func (m Machine) ledger() Ledger {
	if m.Unreadable != nil {
		return Ledger{Root: m.Root, Err: m.Unreadable}
	}
	f := Ledger{Root: m.Root, LastSweep: m.View.LastSweep.CompletedAt, Entries: len(m.View.Sessions) + len(m.View.Briefs)}
	for _, d := range m.View.Damaged {
		f.Damaged = append(f.Damaged, d.Err.Error())
	}
	var st unix.Statfs_t
	dir := m.Root
	err := unix.Statfs(dir, &st)
	for errors.Is(err, unix.ENOENT) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		err = unix.Statfs(dir, &st)
	}
	f.FreeBytes, f.Err = st.Bavail*uint64(st.Bsize), err
	if err == nil && unix.Access(dir, unix.W_OK) != nil {
		f.Err = fmt.Errorf("%s cannot be written: no session is recorded", dir)
	}
	return f
}

func (m Machine) sessions() Sessions {
	f := Sessions{Unshimmed: map[string]int{}}
	for _, s := range m.View.Sessions {
		e := s.Entry
		if e.EnrolledBy != "shim" && e.StartedAt != nil && m.Now.Sub(e.StartedAt.Time) < recent {
			f.Unshimmed[e.Runtime]++
		}
		if at := s.TranscriptExpiresAt; at != nil && at.Sub(m.Now) < expirySoon {
			f.Expiring++
			if f.FirstExpiry.IsZero() || at.Before(f.FirstExpiry) {
				f.FirstExpiry = *at
			}
		}
	}
	return f
}
