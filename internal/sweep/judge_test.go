package sweep

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
)

var now = time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *ledger.Stamp { return ledger.At(now.Add(-d)) }

var (
	seven   = process.Identity{BootID: "b", PID: 7, StartTicks: 70}
	running = ledger.Whereabouts{Presence: ledger.Running, Process: seven}
	gone    = ledger.Whereabouts{Presence: ledger.Gone}
	unknown = ledger.Whereabouts{Presence: ledger.Unproved}
)

// entry is an open entry of a runtime whose process is seven.
func entry(runtime string, change func(*ledger.Entry)) *ledger.Entry {
	e := &ledger.Entry{SchemaVersion: 1, LedgerID: "x", Runtime: runtime, BootID: ledger.Ptr("b"), PID: ledger.Ptr(7), PIDStartTicks: ledger.Ptr(uint64(70)),
		Mux: ledger.Mux{Kind: ledger.Ptr(ledger.MuxTmux)}}
	if change != nil {
		change(e)
	}
	return e
}

// words are decisions as a test names them.
func words(todo []decision) string {
	var all []string
	for _, d := range todo {
		switch d.action {
		case closeEntry:
			all = append(all, fmt.Sprintf("close (%s, %s)", d.reason, d.endedBy))
		case stampTicks:
			all = append(all, fmt.Sprintf("stamp %d active %v", d.ticks, d.active != nil))
		case enrolProcess:
			all = append(all, fmt.Sprintf("enrol %d", d.candidate.PID))
		default:
			all = append(all, string(d.action))
		}
	}
	return strings.Join(all, ", ")
}

func TestJudgeOpenEntries(t *testing.T) {
	const nothing, loss = "process exited, nothing was recorded to recover", "loss"
	rescued := func(e *ledger.Entry) { e.RescuedAt = ago(0) }
	for _, tc := range []struct {
		name string
		row  row
		want string
	}{
		{"runs as recorded", row{entry: entry("claude", nil), where: running}, ""},
		{"not proved: nothing is done", row{entry: entry("codex", nil), where: unknown}, ""},
		{"runs and has no process recorded", row{entry: entry("codex", func(e *ledger.Entry) { e.PID, e.PIDStartTicks = nil, nil }), where: running}, "bind"},
		{"its wrapper is gone and the program runs on", row{entry: entry("codex", func(e *ledger.Entry) { *e.PID = 6 }), where: running}, "bind"},
		{"sits in no known multiplexer", row{entry: entry("claude", func(e *ledger.Entry) { e.Mux.Kind = nil }), where: running}, "host"},
		{"is hosted without a multiplexer", row{entry: entry("claude", func(e *ledger.Entry) { e.Mux.Kind, e.HostSocket = nil, ledger.Ptr("/s") }), where: running}, ""},

		{"first reading of its ticks", row{entry: entry("codex", nil), where: running, ticks: 5, read: true}, "stamp 5 active false"},
		{"ticks grew", row{entry: entry("codex", func(e *ledger.Entry) { e.CPUTicks = ledger.Ptr(uint64(4)) }), where: running, ticks: 5, read: true}, "stamp 5 active true"},
		{"ticks stand still", row{entry: entry("codex", func(e *ledger.Entry) { e.CPUTicks = ledger.Ptr(uint64(5)) }), where: running, ticks: 5, read: true}, ""},
		{"a smaller sum: a part of it ended", row{entry: entry("codex", func(e *ledger.Entry) { e.CPUTicks = ledger.Ptr(uint64(9)) }), where: running, ticks: 5, read: true}, "stamp 5 active false"},
		{"ticks could not be read", row{entry: entry("codex", nil), where: running}, ""},
		{"with a transcript ticks are ignored", row{entry: entry("claude", func(e *ledger.Entry) { e.TranscriptPath, e.CPUTicks = ledger.Ptr("/t"), ledger.Ptr(uint64(4)) }), where: running, ticks: 5, read: true}, ""},
		{"another process's ticks are no growth", row{entry: entry("codex", func(e *ledger.Entry) { *e.PID, e.CPUTicks = 6, ledger.Ptr(uint64(1)) }), where: running, ticks: 5, read: true}, "bind, stamp 5 active false"},

		{"codex is gone", row{entry: entry("codex", nil), where: gone}, "rescue, close (process exited, loss)"},
		{"a runtime nobody knows is gone", row{entry: entry("unheard-of", nil), where: gone}, "rescue, close (process exited, loss)"},
		{"claude is gone with a conversation: lost, it stays open", row{entry: entry("claude", func(e *ledger.Entry) { e.SessionID = ledger.Ptr("s") }), where: gone}, "rescue"},
		{"claude is gone with a transcript alone", row{entry: entry("claude", func(e *ledger.Entry) { e.TranscriptPath = ledger.Ptr("/t") }), where: gone}, "rescue"},
		{"claude is gone and nothing was recorded", row{entry: entry("claude", nil), where: gone}, "rescue, close (" + nothing + ", " + loss + ")"},
		{"a rescue is taken once", row{entry: entry("claude", func(e *ledger.Entry) { e.SessionID = ledger.Ptr("s"); rescued(e) }), where: gone}, ""},
		{"rescued, but not closed yet", row{entry: entry("codex", rescued), where: gone}, "close (process exited, loss)"},
		{"no process was ever recorded: it may be starting", row{entry: entry("codex", func(e *ledger.Entry) { e.PID, e.PIDStartTicks = nil, nil }), where: gone}, ""},
		{"a clean exit was seen and not written down in time", row{entry: entry("claude", func(e *ledger.Entry) {
			e.SessionID, e.ExitStatus = ledger.Ptr("s"), &ledger.ExitStatus{Code: ledger.Ptr(0)}
		}), where: gone}, "rescue, close (exited, user)"},
		{"another status was seen: claude is lost", row{entry: entry("claude", func(e *ledger.Entry) {
			e.SessionID, e.ExitStatus = ledger.Ptr("s"), &ledger.ExitStatus{Code: ledger.Ptr(1)}
		}), where: gone}, "rescue"},
		{"a signal was seen: codex is closed after its rescue", row{entry: entry("codex", func(e *ledger.Entry) { e.ExitStatus = &ledger.ExitStatus{Signal: ledger.Ptr(9)} }), where: gone}, "rescue, close (process exited, loss)"},
		{"an entry of a later version is never written", row{entry: entry("codex", func(e *ledger.Entry) { e.SchemaVersion = 2 }), where: gone}, ""},
	} {
		todo, _ := judge(facts{now: now, rows: []row{tc.row}, last: ledger.LastSweep{CompletedAt: now, RescuedSince: now}})
		if got := words(todo); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestJudgeProcesses(t *testing.T) {
	c := func(change func(*candidate)) candidate {
		p := candidate{Identity: seven, runtime: "claude"}
		if change != nil {
			change(&p)
		}
		return p
	}
	nested := entry("claude", func(e *ledger.Entry) { *e.PID = 5 })
	for _, tc := range []struct {
		name      string
		rows      []row
		candidate candidate
		want      string
		blind     bool
	}{
		{"a session without an entry", nil, c(nil), "enrol 7", false},
		{"an open entry's own process", nil, c(func(p *candidate) { p.owner = "x" }), "", false},
		{"a process that is bound to an entry now", []row{{entry: entry("claude", func(e *ledger.Entry) { e.PID, e.PIDStartTicks = nil, nil }), where: running}}, c(nil), "bind", false},
		{"the process of the entry that it carries, written since", nil, c(func(p *candidate) { p.carries = entry("claude", nil) }), "", false},
		{"the process of a finished entry is on its way out", nil, c(func(p *candidate) { p.carries = entry("claude", func(e *ledger.Entry) { e.FinishedAt = ago(0) }) }), "", false},
		{"an inherited id is not an identity", nil, c(func(p *candidate) { p.carries = nested }), "enrol 7", false},
		{"an unreadable environment is never enrolled", nil, c(func(p *candidate) { p.unreadable = errors.New("denied") }), "", true},
		{"unless it is an entry's own: then it is known", nil, c(func(p *candidate) { p.unreadable, p.owner = errors.New("denied"), "x" }), "", false},
	} {
		todo, blind := judge(facts{now: now, rows: tc.rows, candidates: []candidate{tc.candidate}, last: ledger.LastSweep{CompletedAt: now, RescuedSince: now}})
		if got := words(todo); got != tc.want || (len(blind) == 1) != tc.blind {
			t.Errorf("%s: %s, unverifiable %v, want %s", tc.name, got, blind, tc.want)
		}
	}
}

func TestJudgeClosedEntries(t *testing.T) {
	last := ledger.LastSweep{CompletedAt: now.Add(-time.Minute), RescuedSince: now.Add(-time.Minute)}
	closed := func(change func(*ledger.Entry)) *ledger.Entry {
		return entry("claude", func(e *ledger.Entry) {
			e.FinishedAt = ago(0)
			if change != nil {
				change(e)
			}
		})
	}
	for _, tc := range []struct {
		name string
		row  row
		last ledger.LastSweep
		want string
	}{
		{"closed since by whoever saw it go", row{entry: closed(nil), where: gone}, last, "rescue"},
		{"closed by loss", row{entry: closed(func(e *ledger.Entry) { e.EndedBy = ledger.Ptr("loss") }), where: gone}, last, "rescue"},
		{"ended by its user: the files are where they were left", row{entry: closed(func(e *ledger.Entry) { e.EndedBy = ledger.Ptr("user") }), where: gone}, last, ""},
		{"its process is still on its way out", row{entry: closed(nil), where: running}, last, ""},
		{"rescued already", row{entry: closed(func(e *ledger.Entry) { e.RescuedAt = ago(0) }), where: gone}, last, ""},
		{"no process was recorded", row{entry: closed(func(e *ledger.Entry) { e.PID = nil }), where: gone}, last, ""},
		{"closed before the last sweep", row{entry: closed(func(e *ledger.Entry) { e.FinishedAt = ago(time.Hour) }), where: gone}, last, ""},
		{"the first sweep looks a day back", row{entry: closed(func(e *ledger.Entry) { e.FinishedAt = ago(time.Hour) }), where: gone}, ledger.LastSweep{}, "rescue"},
		{"and no further", row{entry: closed(func(e *ledger.Entry) { e.FinishedAt = ago(25 * time.Hour) }), where: gone}, ledger.LastSweep{}, ""},
	} {
		todo, _ := judge(facts{now: now, rows: []row{tc.row}, last: tc.last})
		if got := words(todo); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestJudgeFiles(t *testing.T) {
	const month = ledger.FinishedRetention
	recent := ledger.LastSweep{CompletedAt: now.Add(-time.Minute), RescuedSince: now}
	brief := func(d time.Duration) ledger.Brief { return ledger.Brief{LedgerID: "b", FinishedAt: *ago(d)} }
	old := entry("codex", func(e *ledger.Entry) { e.FinishedAt, e.EndedBy = ago(month+time.Second), ledger.Ptr("user") })
	for _, tc := range []struct {
		name  string
		facts facts
		want  string
	}{
		{"a torn file goes aside", facts{damaged: []ledger.Damaged{{ID: "t"}}, last: recent}, "set aside"},
		{"finished a month ago", facts{briefs: []ledger.Brief{brief(month + time.Second)}, last: recent}, "prune"},
		{"finished less than a month ago", facts{briefs: []ledger.Brief{brief(month)}, last: recent}, ""},
		{"finished in the future, by a clock set back", facts{briefs: []ledger.Brief{brief(-time.Hour)}, last: recent}, ""},
		{"lost in a terminal and finished a month ago", facts{rows: []row{{entry: old, where: gone}}, last: recent}, "prune"},
		{"open for a year", facts{rows: []row{{entry: entry("codex", func(e *ledger.Entry) { e.StartedAt = ago(12 * month) }), where: unknown}}, last: recent}, ""},
		{"the clock leapt since the last sweep", facts{briefs: []ledger.Brief{brief(month + time.Second)}, last: ledger.LastSweep{CompletedAt: now.Add(-25 * time.Hour)}}, ""},
		{"the clock was set back since", facts{briefs: []ledger.Brief{brief(month + time.Second)}, last: ledger.LastSweep{CompletedAt: now.Add(time.Hour)}}, ""},
		{"there was no sweep yet", facts{briefs: []ledger.Brief{brief(month + time.Second)}}, ""},
	} {
		tc.facts.now = now
		todo, _ := judge(tc.facts)
		if got := words(todo); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
