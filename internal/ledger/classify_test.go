package ledger

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/process"
)

var now = time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) *Stamp { return At(now.Add(-d)) }

func grewAt(d time.Duration) *TranscriptFacts {
	return &TranscriptFacts{Size: 10, ModTime: now.Add(-d)}
}

var alive = Whereabouts{Presence: Running, Process: process.Identity{BootID: "b", PID: 7, StartTicks: 70}, Why: "process 7 runs"}

func TestClassify(t *testing.T) {
	gone := Whereabouts{Presence: Gone, Why: "process 7 is gone"}
	unproved := Whereabouts{Presence: Unproved, Why: "it is being started"}
	answered := func(clients int) HostFacts { return HostFacts{Socket: true, Answered: true, Clients: clients} }
	socket := Ptr("/s")
	for _, tc := range []struct {
		name     string
		entry    Entry
		facts    Facts
		want     State
		evidence string
	}{
		{"finishedAt means ended, whatever runs", Entry{FinishedAt: before(0)}, Facts{Process: alive, Transcript: grewAt(0)}, Finished, "ended"},
		{"a finish without a reason is normal", Entry{FinishedAt: before(0), ExitStatus: &ExitStatus{Code: Ptr(0)}}, Facts{Process: gone}, Finished, "ended; exit status 0"},
		{"a finish says its reason", Entry{FinishedAt: before(0), FinishReason: Ptr("exited at the prompt")}, Facts{}, Finished, "exited at the prompt"},
		{"no process and no end is orphaned", Entry{SessionID: Ptr("s")}, Facts{Process: gone}, Orphaned, "process 7 is gone"},
		{"an orphan says how its process ended", Entry{ExitStatus: &ExitStatus{Signal: Ptr(9)}}, Facts{Process: gone}, Orphaned, "killed by signal 9"},
		{"cc#24494: an orphan without a transcript says so", Entry{}, Facts{Process: gone}, Orphaned, "started, no transcript"},
		{"what is not proved is no state", Entry{}, Facts{Process: unproved}, Unknown, "it is being started"},
		{"transcript growth within the threshold is work", Entry{}, Facts{Process: alive, Transcript: grewAt(IdleAfter)}, AliveWorking, "transcript grew 10 min ago"},
		{"no growth beyond it is idle", Entry{}, Facts{Process: alive, Transcript: grewAt(IdleAfter + time.Second)}, AliveIdle, "no progress for 10 min"},
		{"aoe#3712: ticks do not override a transcript", Entry{}, Facts{Process: alive, Transcript: grewAt(time.Hour), CPU: CPUFacts{true, true}}, AliveIdle, "no progress for 1 h"},
		{"ticks do not speak where a transcript is recorded but gone", Entry{TranscriptPath: Ptr("/t")}, Facts{Process: alive, CPU: CPUFacts{true, true}}, AliveIdle, "no progress seen"},
		{"ticks speak for a session without a transcript", Entry{}, Facts{Process: alive, CPU: CPUFacts{true, true}}, AliveWorking, "cpu ticks accumulating"},
		{"ticks that stand still are idle", Entry{}, Facts{Process: alive, CPU: CPUFacts{true, false}}, AliveIdle, "no progress seen"},
		{"one reading proves nothing", Entry{}, Facts{Process: alive, CPU: CPUFacts{false, true}}, AliveIdle, "no progress seen"},
		{"ticks that a sweep saw grow are work", Entry{LastActiveAt: before(time.Minute)}, Facts{Process: alive}, AliveWorking, "cpu ticks grew 1 min ago"},
		{"a hook's heartbeat is progress", Entry{LastHeartbeat: before(time.Minute)}, Facts{Process: alive, Transcript: grewAt(time.Hour)}, AliveWorking, "last event 1 min ago"},
		{"a start is no progress", Entry{StartedAt: before(time.Second)}, Facts{Process: alive}, AliveIdle, "no progress seen"},
		{"clock set back: a time to come is no progress", Entry{}, Facts{Process: alive, Transcript: grewAt(-time.Hour)}, AliveIdle, "lies in the future"},
		{"clock set back: an earlier sign still counts", Entry{LastHeartbeat: before(-time.Hour)}, Facts{Process: alive, Transcript: grewAt(time.Minute)}, AliveWorking, "transcript grew"},
		{"clock set forward: it reads idle until it moves", Entry{}, Facts{Process: alive, Transcript: grewAt(25 * time.Hour)}, AliveIdle, "no progress for 25 h"},
		{"a host without a terminal is detached, working or not", Entry{HostSocket: socket}, Facts{Process: alive, Transcript: grewAt(0), Host: answered(0)}, DetachedAlive, "no terminal is attached"},
		{"a host with a terminal is not", Entry{HostSocket: socket}, Facts{Process: alive, Transcript: grewAt(0), Host: answered(1)}, AliveWorking, "process 7 runs"},
		{"a host that does not answer proves no detachment", Entry{HostSocket: socket}, Facts{Process: alive, Transcript: grewAt(0), Host: HostFacts{Socket: true}}, AliveWorking, "its host does not answer"},
		{"a host's socket that is gone proves none either", Entry{HostSocket: socket}, Facts{Process: alive, Host: HostFacts{Answered: true}}, AliveIdle, "socket is gone"},
		{"a terminal that is gone is no state signal", Entry{TTY: Ptr("/dev/pts/9")}, Facts{Process: alive, Transcript: grewAt(0), TTYExists: false}, AliveWorking, "process 7 runs"},
	} {
		tc.facts.Now = now
		if got := Classify(&tc.entry, tc.facts); got.State != tc.want || !strings.Contains(got.Evidence, tc.evidence) {
			t.Errorf("%s: %s (%s), want %s (…%s…)", tc.name, got.State, got.Evidence, tc.want, tc.evidence)
		}
	}
}

func TestProcessKeyStandsOnlyForARunningProcess(t *testing.T) {
	for _, tc := range []struct {
		name  string
		entry Entry
		proc  Whereabouts
		want  string
	}{
		{"running", Entry{}, alive, "b:7:70"},
		{"gone", Entry{}, Whereabouts{Presence: Gone}, ""},
		{"not proved", Entry{}, Whereabouts{}, ""},
		{"finished", Entry{FinishedAt: before(0)}, alive, ""},
	} {
		if got := Value(Classify(&tc.entry, Facts{Now: now, Process: tc.proc}).ProcessKey); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestLost(t *testing.T) {
	loss, user := Ptr(EndedByLoss), Ptr(EndedByUser)
	gone := Whereabouts{Presence: Gone}
	for _, tc := range []struct {
		name    string
		entry   Entry
		proc    Whereabouts
		resumed string
		want    bool
	}{
		{"an orphan", Entry{}, gone, "", true},
		{"a headless orphan", Entry{Interactive: Ptr(false)}, gone, "", true},
		{"an orphan that was resumed", Entry{}, gone, "claude-next", false},
		{"ended by loss in a terminal", Entry{FinishedAt: before(0), Interactive: Ptr(true), EndedBy: loss}, gone, "", true},
		{"the same, resumed", Entry{FinishedAt: before(0), Interactive: Ptr(true), EndedBy: loss}, gone, "claude-next", false},
		{"ended by loss without a terminal", Entry{FinishedAt: before(0), Interactive: Ptr(false), EndedBy: loss}, gone, "", false},
		{"ended by its user", Entry{FinishedAt: before(0), Interactive: Ptr(true), EndedBy: user}, gone, "", false},
		{"an end nobody explains", Entry{FinishedAt: before(0), Interactive: Ptr(true)}, gone, "", false},
		{"running", Entry{}, alive, "", false},
		{"not proved", Entry{}, Whereabouts{}, "", false},
	} {
		if got := Classify(&tc.entry, Facts{Now: now, Process: tc.proc, ResumedBy: tc.resumed}).Lost; got != tc.want {
			t.Errorf("%s: lost is %v", tc.name, got)
		}
	}
}

func TestAttached(t *testing.T) {
	for _, tc := range []struct {
		name  string
		entry Entry
		facts Facts
		want  *bool
	}{
		{"a client on the host", Entry{HostSocket: Ptr("/s")}, Facts{Host: HostFacts{Socket: true, Answered: true, Clients: 2}}, Ptr(true)},
		{"none on the host", Entry{HostSocket: Ptr("/s")}, Facts{Host: HostFacts{Socket: true, Answered: true}}, Ptr(false)},
		{"a host that does not answer", Entry{Mux: Mux{Kind: Ptr(MuxTmux)}}, Facts{Host: HostFacts{Socket: true}}, nil},
		{"no host, its terminal is there", Entry{TTY: Ptr("/dev/pts/1")}, Facts{TTYExists: true}, Ptr(true)},
		{"no host, its terminal is gone", Entry{TTY: Ptr("/dev/pts/1")}, Facts{}, Ptr(false)},
		{"no host and no terminal", Entry{}, Facts{TTYExists: true}, Ptr(false)},
	} {
		tc.facts.Process = alive
		got := Classify(&tc.entry, tc.facts).Attached
		if (got == nil) != (tc.want == nil) || Value(got) != Value(tc.want) {
			t.Errorf("%s: %v", tc.name, Value(got))
		}
	}
}

func TestLastActiveAt(t *testing.T) {
	started := before(5 * time.Hour)
	for _, tc := range []struct {
		name  string
		entry Entry
		facts Facts
		want  *Stamp
	}{
		{"the transcript's time", Entry{StartedAt: started, LastActiveAt: before(time.Second)}, Facts{Transcript: grewAt(time.Hour)}, before(time.Hour)},
		{"or the heartbeat where it is later", Entry{LastHeartbeat: before(time.Minute)}, Facts{Transcript: grewAt(time.Hour)}, before(time.Minute)},
		{"else what the sweep saw", Entry{StartedAt: started, LastActiveAt: before(time.Hour)}, Facts{}, before(time.Hour)},
		{"the start where nothing else is", Entry{StartedAt: started}, Facts{}, started},
		{"never a time to come", Entry{}, Facts{Transcript: grewAt(-time.Hour)}, before(0)},
		{"nothing is null", Entry{}, Facts{}, nil},
	} {
		tc.facts.Now = now
		got := Classify(&tc.entry, tc.facts).LastActiveAt
		if (got == nil) != (tc.want == nil) || !Value(got).Equal(Value(tc.want).Time) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestTurn(t *testing.T) {
	its := Entry{Turn: Ptr(TurnIts), TurnAt: before(time.Minute)}
	for _, tc := range []struct {
		name  string
		entry Entry
		facts Facts
		want  string
	}{
		{"as the hooks told", its, Facts{Process: alive}, TurnIts},
		{"not known", Entry{}, Facts{Process: alive}, ""},
		{"broken off by the user since: no hook tells", its, Facts{Process: alive, Interrupted: now}, TurnYours},
		{"broken off before the turn began", its, Facts{Process: alive, Interrupted: now.Add(-time.Hour)}, TurnIts},
		{"nobody's once the process is gone", its, Facts{Process: Whereabouts{Presence: Gone}}, ""},
	} {
		if got := Value(Classify(&tc.entry, tc.facts).Turn); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestASampleIsTakenOnlyWhereItCanChangeTheAnswer(t *testing.T) {
	for _, tc := range []struct {
		name  string
		entry Entry
		facts Facts
		want  bool
	}{
		{"runs without a transcript or a reading", Entry{}, Facts{Process: alive}, true},
		{"a reading is there", Entry{}, Facts{Process: alive, CPU: CPUFacts{Compared: true}}, false},
		{"has a transcript", Entry{}, Facts{Process: alive, Transcript: grewAt(time.Hour)}, false},
		{"had progress", Entry{LastActiveAt: before(0)}, Facts{Process: alive}, false},
		{"had progress long ago", Entry{LastActiveAt: before(time.Hour)}, Facts{Process: alive}, true},
		{"is detached", Entry{}, Facts{Process: alive, Host: HostFacts{Socket: true, Answered: true}}, false},
		{"is gone", Entry{}, Facts{Process: Whereabouts{Presence: Gone}}, false},
		{"has ended", Entry{FinishedAt: before(0)}, Facts{Process: alive}, false},
	} {
		tc.facts.Now = now
		if got := SampleHelps(&tc.entry, tc.facts); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

func TestUnknownIsNullInJSON(t *testing.T) {
	raw, err := json.Marshal(Classify(&Entry{}, Facts{Process: Whereabouts{Why: "it is being started"}}))
	if err != nil || !strings.Contains(string(raw), `"state":null,"evidence":"it is being started"`) {
		t.Errorf("%s, %v", raw, err)
	}
}
