package observe

import (
	"slices"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/procscan"
	"agentwrap/internal/runtimes"
)

// Conversation is what can be told, without a hook, of the conversation that an
// open session carries now: its id by what its own process holds, and the file
// of that id. It is nil where the entry knows all that already.
func (v *View) Conversation(s *Session) *ledger.Conversation {
	e := s.Entry
	id := v.shownID(s)
	if id == "" {
		id = ledger.Value(e.SessionID)
	}
	if id == "" {
		return nil
	}
	known := ledger.Value(e.SessionID) == id
	if known && e.TranscriptPath != nil {
		return nil
	}
	// One that is not found now is looked for again the next time.
	path, _ := v.findTranscript(v.configHome(e), id, e)
	if known && path == "" {
		return nil
	}
	return &ledger.Conversation{ID: id, TranscriptPath: ledger.Known(path)}
}

// shownID is the conversation that a running session's process shows, "" for
// none. A wrapper's program counts as the wrapper's own.
func (v *View) shownID(s *Session) string {
	p := v.sources.Profiles.For(s.Entry.Runtime)
	folder := v.configHome(s.Entry)
	if s.Whereabouts.Presence != ledger.Running || folder == "" || p.IDDescriptor == "" && p.IDFile == "" {
		return ""
	}
	pids := []int{s.Whereabouts.Process.PID}
	if found, ok := v.Snapshot.Find(pids[0]); ok {
		pids = append(pids, found.Folded...)
	}
	var ids []string
	for _, pid := range pids {
		if id := shownBy(p, pid, folder); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) != 1 {
		return ""
	}
	return ids[0]
}

func shownBy(p runtimes.Profile, pid int, folder string) string {
	if p.IDDescriptor != "" {
		// A process that cannot be looked into shows nothing.
		open, _ := procscan.Descriptors(pid)
		return p.IDOfDescriptors(folder, open)
	}
	st, err := process.ReadStat(pid)
	if err != nil {
		return ""
	}
	return p.IDOfFile(folder, pid, process.StartTime(st.StartTicks))
}
