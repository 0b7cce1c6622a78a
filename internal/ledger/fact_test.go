package ledger

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func at(second int) *Stamp { return At(time.Date(2026, 8, 7, 11, 0, second, 0, time.UTC)) }

func says(id, path string) *Conversation { return &Conversation{ID: id, TranscriptPath: Known(path)} }

func carried(id, path string, second int) Conversation {
	return Conversation{ID: id, TranscriptPath: Known(path), Since: at(second)}
}

var (
	exited  = &End{Reason: Ptr("exited at the prompt"), EndedBy: Ptr(EndedByUser)}
	unnamed = &End{LossWhereInteractive: true}
)

func TestApply(t *testing.T) {
	for _, tc := range []struct {
		name    string
		row     Entry
		facts   []Fact
		want    Entry
		lasting bool // of the last fact
	}{
		{
			name:  "a heartbeat is only that",
			facts: []Fact{{At: at(5)}},
			want:  Entry{LastHeartbeat: at(5)},
		},
		{
			name:  "an event that waited for the lock does not turn the heartbeat back",
			row:   Entry{LastHeartbeat: at(9)},
			facts: []Fact{{At: at(5)}},
			want:  Entry{LastHeartbeat: at(9)},
		},
		{
			name:    "a process is named once",
			facts:   []Fact{{At: at(1), Process: &ProcessFact{"boot", 7, 70}}},
			want:    Entry{BootID: Ptr("boot"), PID: Ptr(7), PIDStartTicks: Ptr[uint64](70), LastHeartbeat: at(1)},
			lasting: true,
		},
		{
			name:  "another process takes no row over",
			row:   Entry{BootID: Ptr("boot"), PID: Ptr(7), PIDStartTicks: Ptr[uint64](70)},
			facts: []Fact{{At: at(1), Process: &ProcessFact{"boot", 8, 80}}},
			want:  Entry{BootID: Ptr("boot"), PID: Ptr(7), PIDStartTicks: Ptr[uint64](70), LastHeartbeat: at(1)},
		},
		{
			name:    "the first conversation, its transcript not there yet",
			facts:   []Fact{{At: at(1), Begins: true, Conversation: says("a", "")}},
			want:    Entry{SessionID: Ptr("a"), SessionIDs: []Conversation{carried("a", "", 1)}, LastHeartbeat: at(1)},
			lasting: true,
		},
		{
			name:    "its transcript, once it is there",
			facts:   []Fact{{At: at(1), Begins: true, Conversation: says("a", "")}, {At: at(2), Conversation: says("a", "/p/a")}},
			want:    Entry{SessionID: Ptr("a"), TranscriptPath: Ptr("/p/a"), SessionIDs: []Conversation{carried("a", "/p/a", 1)}, LastHeartbeat: at(2)},
			lasting: true,
		},
		{
			name:  "no report takes a transcript away",
			facts: []Fact{{At: at(1), Conversation: says("a", "/p/a")}, {At: at(2), Conversation: says("a", "")}},
			want:  Entry{SessionID: Ptr("a"), TranscriptPath: Ptr("/p/a"), SessionIDs: []Conversation{carried("a", "/p/a", 1)}, LastHeartbeat: at(2)},
		},
		{
			name:    "a moved transcript: the newest report",
			facts:   []Fact{{At: at(1), Conversation: says("a", "/p/a")}, {At: at(2), Conversation: says("a", "/q/a")}},
			want:    Entry{SessionID: Ptr("a"), TranscriptPath: Ptr("/q/a"), SessionIDs: []Conversation{carried("a", "/q/a", 1)}, LastHeartbeat: at(2)},
			lasting: true,
		},
		{
			name:    "the id that the launch named keeps what is known of it",
			row:     Entry{SessionID: Ptr("a"), TranscriptPath: Ptr("/p/a")},
			facts:   []Fact{{At: at(3), Begins: true, Conversation: says("a", "")}},
			want:    Entry{SessionID: Ptr("a"), TranscriptPath: Ptr("/p/a"), SessionIDs: []Conversation{carried("a", "/p/a", 3)}, LastHeartbeat: at(3)},
			lasting: true,
		},
		{
			name:  "clear: a new id in the same row, the earlier one kept",
			facts: []Fact{{At: at(1), Conversation: says("a", "/p/a")}, {At: at(2), Conversation: says("a", "/p/a")}, {At: at(2), Begins: true, Conversation: says("b", "")}},
			want: Entry{SessionID: Ptr("b"), SessionIDs: []Conversation{carried("a", "/p/a", 1), carried("b", "", 2)},
				LastHeartbeat: at(2)},
			lasting: true,
		},
		{
			name:  "last words of the old conversation after the first of the new one",
			facts: []Fact{{At: at(1), Conversation: says("a", "")}, {At: at(2), Begins: true, Conversation: says("b", "")}, {At: at(2), Conversation: says("a", "/p/a")}},
			want: Entry{SessionID: Ptr("b"), SessionIDs: []Conversation{carried("a", "/p/a", 1), carried("b", "", 2)},
				LastHeartbeat: at(2)},
			lasting: true,
		},
		{
			name:  "back to an earlier conversation",
			facts: []Fact{{At: at(1), Conversation: says("a", "/p/a")}, {At: at(2), Begins: true, Conversation: says("b", "/p/b")}, {At: at(3), Begins: true, Conversation: says("a", "")}},
			want: Entry{SessionID: Ptr("a"), TranscriptPath: Ptr("/p/a"), SessionIDs: []Conversation{carried("b", "/p/b", 2), carried("a", "/p/a", 1)},
				LastHeartbeat: at(3)},
			lasting: true,
		},
		{
			name:  "a prompt in an earlier conversation whose beginning was not heard",
			facts: []Fact{{At: at(1), Conversation: says("a", "")}, {At: at(2), Begins: true, Conversation: says("b", "")}, {At: at(3), Turn: TurnIts, Conversation: says("a", "")}},
			want: Entry{SessionID: Ptr("a"), SessionIDs: []Conversation{carried("b", "", 2), carried("a", "", 1)},
				Turn: Ptr(TurnIts), TurnAt: at(3), TurnOrder: Ptr[uint64](0), LastHeartbeat: at(3)},
			lasting: true,
		},
		{
			name:  "whose turn it is",
			facts: []Fact{{At: at(1), Turn: TurnIts}, {At: at(2), Turn: TurnYours}},
			want:  Entry{Turn: Ptr(TurnYours), TurnAt: at(2), TurnOrder: Ptr[uint64](0), LastHeartbeat: at(2)},
		},
		{
			name:  "who is reminded has had the turn since the first word",
			facts: []Fact{{At: at(1), Turn: TurnYours}, {At: at(2), Turn: TurnYours}},
			want:  Entry{Turn: Ptr(TurnYours), TurnAt: at(1), TurnOrder: Ptr[uint64](0), LastHeartbeat: at(2)},
		},
		{
			name:  "the next prompt begins a turn, though the last one's end was not heard",
			facts: []Fact{{At: at(1), Turn: TurnIts}, {At: at(2), Turn: TurnIts}},
			want:  Entry{Turn: Ptr(TurnIts), TurnAt: at(2), TurnOrder: Ptr[uint64](0), LastHeartbeat: at(2)},
		},
		{
			name:  "a prompt does not wait for the turn before it, whose end is written later",
			facts: []Fact{{At: at(1), Order: 8, Turn: TurnIts}, {At: at(1), Order: 7, Turn: TurnYours}},
			want:  Entry{Turn: Ptr(TurnIts), TurnAt: at(1), TurnOrder: Ptr[uint64](8), LastHeartbeat: at(1)},
		},
		{
			name:  "where it works now, outside of a repository",
			row:   Entry{CWD: Ptr("/a"), RepoRoot: Ptr("/a"), Branch: Ptr("main"), Project: Ptr("a"), Worktree: Ptr(false), GitCommonDir: Ptr("/a/.git")},
			facts: []Fact{{At: at(1), Place: &Place{CWD: Ptr("/b")}}},
			want:  Entry{CWD: Ptr("/b"), LastHeartbeat: at(1)},
		},
		{
			name:    "the end, with the CLI's reason",
			facts:   []Fact{{At: at(1), End: exited}},
			want:    Entry{FinishedAt: at(1), FinishReason: Ptr("exited at the prompt"), EndedBy: Ptr(EndedByUser), LastHeartbeat: at(1)},
			lasting: true,
		},
		{
			name:    "an end without a reason is a loss on a screen",
			row:     Entry{Interactive: Ptr(true)},
			facts:   []Fact{{At: at(1), End: unnamed}},
			want:    Entry{Interactive: Ptr(true), FinishedAt: at(1), EndedBy: Ptr(EndedByLoss), LastHeartbeat: at(1)},
			lasting: true,
		},
		{
			name:    "and proves nothing without one",
			row:     Entry{Interactive: Ptr(false)},
			facts:   []Fact{{At: at(1), End: unnamed}},
			want:    Entry{Interactive: Ptr(false), FinishedAt: at(1), LastHeartbeat: at(1)},
			lasting: true,
		},
		{
			name:    "the CLI's reason after whoever saw the process go",
			row:     Entry{FinishedAt: at(1), FinishReason: Ptr("exited"), EndedBy: Ptr(EndedByUser)},
			facts:   []Fact{{At: at(2), End: exited}},
			want:    Entry{FinishedAt: at(1), FinishReason: Ptr("exited at the prompt"), EndedBy: Ptr(EndedByUser), LastHeartbeat: at(2)},
			lasting: true,
		},
		{
			name:  "the same end three times",
			facts: []Fact{{At: at(1), End: exited}, {At: at(2), End: exited}, {At: at(3), End: &End{}}},
			want:  Entry{FinishedAt: at(1), FinishReason: Ptr("exited at the prompt"), EndedBy: Ptr(EndedByUser), LastHeartbeat: at(3)},
		},
		{
			name:    "an end that was none: the process takes up a conversation",
			facts:   []Fact{{At: at(1), Conversation: says("a", ""), End: &End{Reason: Ptr("resume")}}, {At: at(1), Begins: true, Conversation: says("b", "")}},
			want:    Entry{SessionID: Ptr("b"), SessionIDs: []Conversation{carried("a", "", 1), carried("b", "", 1)}, LastHeartbeat: at(1)},
			lasting: true,
		},
		{
			name:    "a prompt later than the end",
			facts:   []Fact{{At: at(1), End: unnamed}, {At: at(2), Turn: TurnIts}},
			want:    Entry{Turn: Ptr(TurnIts), TurnAt: at(2), TurnOrder: Ptr[uint64](0), LastHeartbeat: at(2)},
			lasting: true,
		},
		{
			name:  "a prompt that only waited longer than the end",
			facts: []Fact{{At: at(1), End: unnamed}, {At: at(1), Turn: TurnIts}},
			want:  Entry{FinishedAt: at(1), Turn: Ptr(TurnIts), TurnAt: at(1), TurnOrder: Ptr[uint64](0), LastHeartbeat: at(1)},
		},
		{
			name:  "a dismissed row stays so",
			row:   Entry{FinishedAt: at(1), FinishReason: Ptr(ReasonDismissed), EndedBy: Ptr(EndedByUser)},
			facts: []Fact{{At: at(2), Begins: true}, {At: at(2), End: exited}},
			want:  Entry{FinishedAt: at(1), FinishReason: Ptr(ReasonDismissed), EndedBy: Ptr(EndedByUser), LastHeartbeat: at(2)},
		},
		{
			name:  "each thing told once",
			facts: []Fact{{At: at(1), Told: []string{"rescue"}}, {At: at(1), Told: []string{"rescue", "tree"}}},
			want:  Entry{Told: []string{"rescue", "tree"}, LastHeartbeat: at(1)},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			row, lasting := tc.row, false
			for _, f := range tc.facts {
				lasting = Apply(&row, f)
			}
			if diff := cmp.Diff(tc.want, row, cmpopts.IgnoreUnexported(Entry{})); diff != "" {
				t.Error(diff)
			}
			if lasting != tc.lasting {
				t.Errorf("lasting %v, want %v", lasting, tc.lasting)
			}
		})
	}
}
