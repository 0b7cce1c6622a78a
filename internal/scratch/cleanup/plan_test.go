package cleanup

import (
	"errors"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/statefile"
)

var now = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// ended is a folder of an ended session that rested for 8 days.
func endedFolder(change func(*Folder)) Folder {
	f := Folder{
		Name: "codex-1", Session: "codex:1", ID: statefile.FileID{Dev: 1, Ino: 2}, Home: Place{statefile.FileID{Dev: 1, Ino: 1}, "codex-1"},
		Surveyed: true, Changed: now.Add(-8 * day),
	}
	if change != nil {
		change(&f)
	}
	return f
}

func TestThePlan(t *testing.T) {
	id := endedFolder(nil).ID
	broken := errors.New("broken")
	for _, tc := range []struct {
		name   string
		folder func(*Folder)
		facts  func(*Facts)
		want   State
		why    string
	}{
		{name: "ended and rested", want: Due, why: "nothing changed for 8 days"},
		{name: "changed 6 days ago", folder: func(f *Folder) { f.Changed = now.Add(-6 * day) }, want: Resting, why: "may go in 24 hours"},
		{name: "changed to the second", folder: func(f *Folder) { f.Changed = now.Add(-7 * day) }, want: Due},
		{name: "changed in the future", folder: func(f *Folder) { f.Changed = now.Add(day) }, want: Resting, why: "still to come"},
		{name: "a longer rest", facts: func(f *Facts) { f.Rest = 30 * day }, want: Resting, why: "may go in 22 days"},
		{name: "a row has the folder", facts: func(f *Facts) { f.Owned.ByFolder = map[statefile.FileID]string{id: "codex-x"} }, want: Live, why: "session codex-x has it"},
		{name: "a row has its place", facts: func(f *Facts) { f.Owned.ByPlace = map[Place]string{endedFolder(nil).Home: "codex-x"} }, want: Live, why: "session codex-x has it"},
		{name: "a row is its session", facts: func(f *Facts) { f.Owned.BySession = map[string]string{"codex:1": "codex-x"} }, want: Live, why: "session codex-x has it"},
		{name: "a lease names it", facts: func(f *Facts) { f.Leased = map[string]bool{"codex:1": true} }, want: Live, why: "lease"},
		{name: "a lease of another", facts: func(f *Facts) { f.Leased = map[string]bool{"codex:2": true} }, want: Due},
		{name: "its process runs", folder: func(f *Folder) { f.Process = ProcessRuns }, want: Live, why: "process runs"},
		{name: "its process is gone", folder: func(f *Folder) { f.Process = ProcessGone }, want: Due},
		{name: "its process may run", folder: func(f *Folder) { f.Process = ProcessUnknown }, want: Unproved, why: "may still run"},
		{name: "the lease table is unreadable", facts: func(f *Facts) { f.LeasesErr = broken }, want: Unproved, why: "broken"},
		{name: "the ledger is unreadable", facts: func(f *Facts) { f.LedgerErr = broken }, want: Unproved, why: "broken"},
		{name: "live is said even so", facts: func(f *Facts) { f.LedgerErr, f.Leased = broken, map[string]bool{"codex:1": true} }, want: Live},
		{name: "it cannot be walked", folder: func(f *Folder) { f.Err, f.Surveyed = statefile.ErrMount, false }, want: Unproved, why: "mounted"},
		{name: "it was not walked", folder: func(f *Folder) { f.Surveyed = false }, want: Unproved},
		{name: "a process is in it", facts: func(f *Facts) { f.InUse = map[statefile.FileID]string{id: "process 7 (bash)"} }, want: InUse, why: "process 7 (bash)"},
		{name: "processes cannot be looked at", facts: func(f *Facts) { f.InUseErr = broken }, want: Unproved},
		{name: "a removal cut short", folder: func(f *Folder) { f.Begun, f.Changed = true, now }, want: Due, why: "had begun"},
		{name: "a removal cut short, a process in it", folder: func(f *Folder) { f.Begun = true },
			facts: func(f *Facts) { f.InUse = map[statefile.FileID]string{id: "process 7"} }, want: InUse},
		{name: "a removal cut short, its session resumed", folder: func(f *Folder) { f.Begun = true },
			facts: func(f *Facts) { f.Owned.ByPlace = map[Place]string{endedFolder(nil).Home: "codex-x"} }, want: Live},
	} {
		facts := Facts{Now: now, Rest: 7 * day}
		if tc.facts != nil {
			tc.facts(&facts)
		}
		got := Decide(endedFolder(tc.folder), facts)
		if got.State != tc.want || !strings.Contains(got.Why, tc.why) || got.Why == "" {
			t.Errorf("%s: got %s (%s), want %s (%s)", tc.name, got.State, got.Why, tc.want, tc.why)
		}
	}
}
