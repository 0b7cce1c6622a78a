package observe

import (
	"errors"
	"os"
	"slices"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/procscan"
)

const ticksPerSecond = process.TicksPerSecond

// processes are the processes of one moment as entries need them.
type processes struct {
	snapshot *procscan.Snapshot
	// owned are the pids that are some open entry's own recorded process, by
	// boot id, pid and start ticks.
	owned map[int]string
	// carriers are the processes by the id in their environment.
	carriers map[string][]ledger.Carrier
	// blind are those, by runtime, that belong to no entry and whose
	// environment cannot be read.
	blind map[string][]int
}

func newProcesses(snapshot *procscan.Snapshot, sessions []*Session) *processes {
	p := &processes{snapshot, map[int]string{}, map[string][]ledger.Carrier{}, map[string][]int{}}
	for _, s := range sessions {
		id, ok := s.Entry.Process()
		if !ok || id.BootID != snapshot.BootID {
			continue
		}
		if found, ok := snapshot.Find(id.PID); ok && found.StartTicks == id.StartTicks {
			p.owned[id.PID] = s.Entry.LedgerID
		}
	}
	for i := range snapshot.Processes {
		q := &snapshot.Processes[i]
		_, owned := p.owned[q.PID]
		switch {
		case q.Unreadable == nil && q.LedgerID != "":
			p.carriers[q.LedgerID] = append(p.carriers[q.LedgerID], carrierOf(q))
		case q.Unreadable != nil && !owned:
			p.blind[q.Runtime] = append(p.blind[q.Runtime], q.PID)
		}
	}
	return p
}

// of finds the process of an entry.
func (p *processes) of(e *ledger.Entry) ledger.Whereabouts {
	look := ledger.Look{BootID: p.snapshot.BootID, Machine: p.snapshot.Machine, Blind: p.blind[e.Runtime]}
	look.Carriers = slices.DeleteFunc(slices.Clone(p.carriers[e.LedgerID]), func(c ledger.Carrier) bool {
		owner, ok := p.owned[c.PID]
		return ok && owner != e.LedgerID
	})
	switch {
	case e.BootID != nil && *e.BootID != p.snapshot.BootID:
	case e.PID != nil:
		look.Recorded = sight(*e.PID)
	case e.LauncherPID != nil:
		look.Launching = procscan.RunsOurs(*e.LauncherPID)
	}
	return ledger.FindProcess(e, look)
}

// WhereIs finds the process of any entry, finished ones too.
func (v *View) WhereIs(e *ledger.Entry) ledger.Whereabouts { return v.processes.of(e) }

// OwnerOf is the open entry that a process belongs to, "" for none.
func (v *View) OwnerOf(p *procscan.Process) string { return v.processes.owned[p.PID] }

// locate finds the process of each session that has not ended.
func (v *View) locate(now time.Time) {
	v.processes = newProcesses(v.Snapshot, v.Sessions)
	for _, s := range v.Sessions {
		e := s.Entry
		s.facts.Now = now
		if e.FinishedAt != nil {
			continue
		}
		s.Whereabouts = v.processes.of(e)
		s.facts.Process = s.Whereabouts
		s.facts.TTYExists = e.TTY != nil && exists(*e.TTY)
		if s.Whereabouts.Presence == ledger.Running {
			s.readTicks(v.Snapshot)
		}
	}
}

// carrierOf is a process as classification sees it.
func carrierOf(p *procscan.Process) ledger.Carrier {
	return ledger.Carrier{PID: p.PID, StartTicks: p.StartTicks, PGRP: p.PGRP, Runtime: p.Runtime, Ancestors: p.Ancestors, Leader: p.Session == p.PID}
}

// sight looks up one recorded pid. A zombie has ended.
func sight(pid int) ledger.Sighting {
	st, err := process.ReadStat(pid)
	switch {
	case errors.Is(err, process.ErrGone):
		return ledger.Sighting{}
	case err != nil:
		return ledger.Sighting{Err: err}
	}
	return ledger.Sighting{Exists: st.State != 'Z' && st.State != 'X', StartTicks: st.StartTicks}
}

// readTicks adds up what a session's process and the program behind it (where
// it is a wrapper) have used.
func (s *Session) readTicks(snapshot *procscan.Snapshot) {
	if p, ok := snapshot.Find(s.Whereabouts.Process.PID); ok {
		s.folded = p.Folded
	}
	s.ticks, s.read = s.usedTicks()
}

// usedTicks is that sum now, false where a part of it is gone.
func (s *Session) usedTicks() (sum uint64, ok bool) {
	id := s.Whereabouts.Process
	for _, pid := range append([]int{id.PID}, s.folded...) {
		st, err := process.ReadStat(pid)
		if err != nil || pid == id.PID && st.StartTicks != id.StartTicks {
			return 0, false
		}
		sum += st.UserTicks + st.SystemTicks
	}
	return sum, true
}

// Ticks are the cpu ticks that a running session's process has used, false
// where they cannot be read.
func (s *Session) Ticks() (uint64, bool) { return s.ticks, s.read }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
