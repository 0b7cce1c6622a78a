package reopen

import (
	"strings"
	"testing"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
)

// base is a session that died with a known conversation, and all that is
// needed to go on with it.
func base(state ledger.State) Facts {
	return Facts{
		Entry: &ledger.Entry{
			LedgerID: "claude-1", Runtime: "claude", CWD: ledger.Ptr("/w"), TTY: ledger.Ptr("/dev/pts/4"),
			SessionID: ledger.Ptr("0f0e0d0c-0b0a-4908-8706-050403020100"),
		},
		Class:     ledger.Classification{State: state, Evidence: "because", Process: process.Identity{PID: 77}},
		CanResume: true, HasShim: true,
	}
}

func TestDecide(t *testing.T) {
	hosted := func(f *Facts) { f.Entry.HostSocket = ledger.Ptr("/s"); f.HostAnswers = true }
	for _, tc := range []struct {
		name   string
		state  ledger.State
		change func(*Facts)
		want   Action
		says   []string
	}{
		{name: "alive and hosted", state: ledger.AliveWorking, change: hosted, want: Join},
		{name: "detached", state: ledger.DetachedAlive, change: hosted, want: Join},
		{name: "from within itself", state: ledger.AliveIdle, change: func(f *Facts) { hosted(f); f.Inside = true }, want: Refuse, says: []string{"inside that very session"}},
		{name: "in the user's own", state: ledger.AliveIdle, change: func(f *Facts) {
			f.Entry.Mux = ledger.Mux{Kind: ledger.Ptr("tmux"), Socket: ledger.Ptr("/t"), Target: ledger.Ptr("main")}
		}, want: JoinOwn},
		{name: "alive without a host", state: ledger.AliveWorking, want: Refuse, says: []string{"on /dev/pts/4 (pid 77)", "stop claude-1", "attach claude-1"}},
		{name: "alive without a terminal", state: ledger.AliveWorking, change: func(f *Facts) { f.Entry.TTY = nil }, want: Refuse, says: []string{"without a terminal (pid 77)"}},
		{name: "its host is gone", state: ledger.AliveIdle, change: func(f *Facts) { hosted(f); f.HostAnswers = false }, want: Refuse, says: []string{"cannot be joined"}},
		{name: "not proved", state: ledger.Unknown, want: Refuse, says: []string{"because", "show claude-1"}},
		{name: "lost", state: ledger.Orphaned, want: Resume},
		{name: "finished", state: ledger.Finished, want: Resume},
		{name: "conversation live elsewhere", state: ledger.Finished, change: func(f *Facts) { f.LiveConversation = "claude-2" }, want: Refuse, says: []string{"attach claude-2"}},
		{name: "resumed before", state: ledger.Finished, change: func(f *Facts) { f.ResumedBy = "claude-3" }, want: Refuse, says: []string{"attach claude-3"}},
		{name: "being resumed", state: ledger.Orphaned, change: func(f *Facts) { f.Claimed = true }, want: Refuse, says: []string{"right now"}},
		{name: "folder gone", state: ledger.Orphaned, change: func(f *Facts) { f.Folder = FolderGone }, want: Refuse, says: []string{"/w is gone", "--recreate"}},
		{name: "folder closed", state: ledger.Orphaned, change: func(f *Facts) { f.Folder = FolderUnusable }, want: Refuse, says: []string{"permissions"}},
		{name: "folder never known", state: ledger.Orphaned, change: func(f *Facts) { f.Folder = FolderUnknown }, want: Refuse, says: []string{"not known"}},
		{name: "no shim", state: ledger.Orphaned, change: func(f *Facts) { f.HasShim = false }, want: Refuse, says: []string{"doctor"}},
		{name: "no conversation", state: ledger.Orphaned, change: func(f *Facts) { f.Entry.SessionID = nil }, want: Fresh, says: []string{"no conversation"}},
		{name: "a runtime that cannot", state: ledger.Orphaned, change: func(f *Facts) { f.CanResume = false }, want: Fresh, says: []string{"cannot go on"}},
	} {
		f := base(tc.state)
		if tc.change != nil {
			tc.change(&f)
		}
		got := Decide(f)
		said := got.Why + "; " + got.Next
		if got.Action != tc.want {
			t.Errorf("%s: action %d, want %d (%s)", tc.name, got.Action, tc.want, said)
		}
		for _, words := range tc.says {
			if !strings.Contains(said, words) {
				t.Errorf("%s: %q does not say %q", tc.name, said, words)
			}
		}
		if got.Action == Refuse && got.Why == "" || strings.Contains(said, "%!") || strings.Contains(said, "tmux") {
			t.Errorf("%s: said %q", tc.name, said)
		}
		if got.Recreate != (f.Folder == FolderGone && got.Action == Refuse && strings.Contains(said, "recreate")) {
			t.Errorf("%s: recreate %v", tc.name, got.Recreate)
		}
	}
}
