package procscan

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
)

// look reads the rest of a process that matched. The order matters: the program
// before the environment, since an exec between the two (the shim's, which has
// the CLI's own name) changes both at once and may only ever be seen as "not a
// session yet"; the start ticks last, to prove that it was one process.
func look(h hit, covered func(string) bool, profiles runtimes.Profiles) (Process, bool) {
	before, err := process.ReadStat(h.pid)
	if err != nil {
		return Process{}, false
	}
	exe, exeErr := os.Readlink(procPath(h.pid, "exe"))
	exe = strings.TrimSuffix(exe, " (deleted)")
	runtime, args, ok := runtimes.Match(h.argv, exe, covered)
	if !ok || ours(exe) || profiles.For(runtime).IsService(args, exe) {
		return Process{}, false
	}
	p := Process{Runtime: runtime, Args: args, Script: len(args) < len(h.argv)-1}
	p.LedgerID, p.Unreadable = readLedgerID(h.pid)
	if errors.Is(p.Unreadable, process.ErrGone) {
		return Process{}, false
	}
	if p.Unreadable == nil && exeErr != nil {
		p.Unreadable = fmt.Errorf("program of process %d: %w", h.pid, exeErr)
	}
	if p.Stat, err = process.ReadStat(h.pid); err != nil || !p.lives() || p.StartTicks != before.StartTicks {
		return Process{}, false
	}
	for above := range process.Ancestors(h.pid) {
		p.Ancestors = append(p.Ancestors, above.PID)
	}
	return p, true
}

func (p *Process) lives() bool { return p.State != 'Z' && p.State != 'X' }

// ours tells a program of this project, whatever name it was started by: the
// shim has the CLI's name while it relays a hosted session.
func ours(exe string) bool {
	return slices.Contains([]string{"agentwrap", "agent-sessions"}, filepath.Base(exe))
}

const ledgerIDVar = "AGENT_LEDGER_ID="

// readLedgerID reads the id in a process's environment. An empty environment is
// also what an exiting process shows: it counts only while the command line is
// still there.
func readLedgerID(pid int) (string, error) {
	if err := foreign(pid); err != nil {
		return "", err
	}
	raw, err := os.ReadFile(procPath(pid, "environ"))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH):
		return "", process.ErrGone
	case err != nil:
		return "", fmt.Errorf("environment of process %d: %w", pid, err)
	case len(raw) == 0:
		if argv, err := process.Cmdline(pid); err != nil || len(argv) == 0 {
			return "", process.ErrGone
		}
	}
	for entry := range bytes.SplitSeq(raw, []byte{0}) {
		if id, ok := bytes.CutPrefix(entry, []byte(ledgerIDVar)); ok {
			return string(id), nil
		}
	}
	return "", nil
}

// foreign fails for a process of another user: its session may stand in that
// user's own ledger, which cannot be proved from here even by root.
func foreign(pid int) error {
	var st unix.Stat_t
	if err := unix.Stat(procPath(pid, ""), &st); err != nil {
		return process.ErrGone
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("process %d belongs to user %d", pid, st.Uid)
	}
	return nil
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// fold joins wrapped programs to their wrappers: a script that an interpreter
// runs and that starts the same CLI again, right below it and in its process
// group. What a session itself runs is never folded: it is another group's, or
// two levels down.
func (s *Snapshot) fold() {
	slices.SortFunc(s.Processes, func(a, b Process) int { return a.PID - b.PID })
	byPID := make(map[int]*Process, len(s.Processes))
	for i := range s.Processes {
		byPID[s.Processes[i].PID] = &s.Processes[i]
	}
	folded := map[int]bool{}
	for i := range s.Processes {
		p := &s.Processes[i]
		w, ok := byPID[p.PPID]
		switch {
		case ok && wraps(w, p) && !s.wrapped(byPID, w):
			w.Folded = append(w.Folded, p.PID)
			folded[p.PID] = true
		case ok && p.Forked && w.Runtime == p.Runtime:
			// About to become what the session runs: it has only not exec'd yet.
			folded[p.PID] = true
		}
	}
	s.Processes = slices.DeleteFunc(s.Processes, func(p Process) bool { return folded[p.PID] })
	s.byPID = make(map[int]int, len(s.Processes))
	for i, p := range s.Processes {
		s.byPID[p.PID] = i
	}
}

func wraps(w, p *Process) bool {
	return w.Script && w.Runtime == p.Runtime && w.PGRP == p.PGRP && w.LedgerID == p.LedgerID
}

// wrapped tells whether a process is itself a wrapper's program, by looking up
// the chain: every second link of one is a wrapper.
func (s *Snapshot) wrapped(byPID map[int]*Process, p *Process) bool {
	w, ok := byPID[p.PPID]
	return ok && wraps(w, p) && !s.wrapped(byPID, w)
}

// RunsOurs tells whether a pid is a program of this project now: a launcher
// that has not become its CLI yet, or a session's host.
func RunsOurs(pid int) bool {
	exe, err := os.Readlink(procPath(pid, "exe"))
	return err == nil && ours(strings.TrimSuffix(exe, " (deleted)"))
}
