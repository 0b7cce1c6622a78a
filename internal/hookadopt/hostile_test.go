package hookadopt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/transcript"
	"agentwrap/test/isolate"
)

func TestPayloadsThatAreNone(t *testing.T) {
	huge := strings.Repeat("x", payloadLimit)
	for _, tc := range []struct {
		name, in string
		want     payload
		fails    bool
	}{
		{"nothing", "", payload{}, true},
		{"another value", `[{"hook_event_name":"Stop"}]`, payload{}, false},
		{"cut off", `{"session_id":"` + idA + `","hook_event_name":"Stop","last_assistant_message":"hel`, payload{event: "Stop", conversation: idA}, true},
		{"more than anyone says", `{"session_id":"` + idA + `","hook_event_name":"Stop","prompt":"` + huge + `"}`, payload{event: "Stop", conversation: idA}, true},
		{"more behind it", `{"hook_event_name":"Stop"}{"hook_event_name":"SessionEnd"}`, payload{event: "Stop"}, false},
		{"wrong types", `{"session_id":7,"hook_event_name":["Stop"],"transcript_path":null,"reason":{"a":1},"source":true}`, payload{}, false},
		{"a path for an id", `{"session_id":"../../` + idA + `"}`, payload{}, false},
		{"an option for an id", `{"session_id":"--help"}`, payload{}, false},
		{"an id with a NUL", `{"session_id":"a\u0000b"}`, payload{}, false},
		{"an endless id", `{"session_id":"` + strings.Repeat("a", 1000) + `"}`, payload{}, false},
		{"a path that is none", `{"transcript_path":"relative/x.jsonl"}`, payload{}, false},
		{"a path with a NUL", `{"transcript_path":"/x\u0000.jsonl"}`, payload{}, false},
		{"a field inside another", `{"tool_input":{"session_id":"` + idA + `","hook_event_name":"Stop"},"hook_event_name":"PreToolUse"}`, payload{event: "PreToolUse"}, false},
		{"not UTF-8", "{\"reason\":\"\xff\xfe\",\"hook_event_name\":\"SessionEnd\"}", payload{event: "SessionEnd", reason: "\xff\xfe"}, false},
	} {
		got, err := readPayload(strings.NewReader(tc.in))
		if got != tc.want || (err != nil) != tc.fails {
			t.Errorf("%s: %+v, %v", tc.name, got, err)
		}
	}
	if _, err := readPayload(iotest.ErrReader(errors.New("broken"))); err == nil {
		t.Error("a broken pipe is no error")
	}
}

// A version of Claude Code left the pipe open behind the payload.
func TestAPayloadIsNotWaitedForLongerThanItIs(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := w.WriteString(event("Stop", idA)); err != nil {
		t.Fatal(err)
	}
	if p, err := readPayload(r); err != nil || p.event != "Stop" {
		t.Errorf("%+v, %v", p, err)
	}
}

func FuzzPayload(f *testing.F) {
	for cli := range sampleMeanings {
		files, err := filepath.Glob(filepath.Join("testdata", cli, "*.json"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
	f.Add([]byte(event("SessionEnd", idA, "reason", "other", "transcript_path", "/x/projects/p/"+idA+".jsonl")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, _ := readPayload(bytes.NewReader(raw))
		if p.conversation != "" && !transcript.PlainID(p.conversation) {
			t.Errorf("conversation %q", p.conversation)
		}
		if p.transcript != "" && (!filepath.IsAbs(p.transcript) || len(p.transcript) > pathLimit) {
			t.Errorf("transcript %q", p.transcript)
		}
		for name, d := range dialects {
			m := d.meaning(p)
			if m.turn != "" && m.turn != ledger.TurnYours && m.turn != ledger.TurnIts {
				t.Errorf("%s: turn %q", name, m.turn)
			}
			if path, _ := d.transcript(p, place{configHome: "/nowhere"}); path != "" && !isFile(path) {
				t.Errorf("%s: transcript %q", name, path)
			}
		}
	})
}

func TestOnlyTheConversationsOwnTranscriptIsBound(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.claude()
		c.event(event("SessionStart", idA))
		secret := filepath.Join(w.home, "secret")
		fifo := filepath.Join(w.home, ".claude", "projects", "-f", idA+".jsonl")
		err := errors.Join(os.WriteFile(secret, nil, 0o600), os.MkdirAll(filepath.Dir(fifo), 0o700), unix.Mkfifo(fifo, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		for name, path := range map[string]string{
			"outside": "/etc/passwd", "another file": secret, "a FIFO": fifo, "another conversation's": w.transcript("-o", idB, "{}"),
			"climbing": filepath.Dir(fifo) + "/../../../secret", "control characters": "/x/projects/\x1b]0;y\a/" + idA + ".jsonl", "none": "",
		} {
			c.event(event("Stop", idA, "transcript_path", path))
			if got := w.row(); got.TranscriptPath != nil {
				t.Errorf("%s: bound %s", name, *got.TranscriptPath)
			}
		}
		// Found by its id, wherever it is.
		path := w.transcript("-elsewhere", idA, `{"isSidechain":false}`)
		c.event(event("Stop", idA, "transcript_path", "/none/projects/x/"+idA+".jsonl"))
		want(t, w.row(), "transcript "+path)
		moved := w.transcript("-moved", idA, `{}`)
		c.event(event("Stop", idA, "transcript_path", moved))
		want(t, w.row(), "transcript "+moved)
	})
}

func TestNothingIsBoundFromASubagent(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.claude()
		c.event(event("SessionStart", idA))
		c.event(event("UserPromptSubmit", idA))
		main := w.transcript("-p", idA, `{"isSidechain":false}`)
		side := w.transcript("-p", idB, `{"isSidechain":true}`)
		below := w.transcript("-p/"+idA+"/subagents", idC, `{}`)
		for _, p := range []string{
			event("Stop", idB, "transcript_path", side), event("SessionEnd", idB, "transcript_path", side, "reason", "other"),
			event("Stop", idC, "transcript_path", below), event("Stop", idA, "agent_id", "a1", "transcript_path", main),
			event("SubagentStop", idA, "agent_id", "a1", "agent_transcript_path", side),
		} {
			c.event(p)
			want(t, w.row(), "now a, carried a,", "turn its", "finished false")
		}
	})
}

// Whatever is wrong on our side, the CLI is told nothing of it.
func TestNoFailureOfOursReachesTheCLI(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.claude()
		file := filepath.Join(w.home, "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, env := range map[string][]string{
			"no home":             {"HOME="},
			"a file for a ledger": {"AGENT_SESSIONS_DIR=" + file},
			"below a file":        {"AGENT_SESSIONS_DIR=" + file + "/x"},
			"a path for an id":    {"AGENT_LEDGER_ID=../../etc/passwd"},
			"no such row":         {"AGENT_LEDGER_ID=claude-20260101T000000Z-000000"},
			"a pid that is none":  {"CLAUDE_PID=-1"},
			"another's pid":       {"CLAUDE_PID=1"},
			"a word for a pid":    {"CLAUDE_PID=99999999999999999999999"},
		} {
			for _, p := range []string{event("SessionStart", idA), event("SessionEnd", idA, "reason", "\x1b[31m\n"), "", "{", "\x00"} {
				if out := c.event(p, env...); out != "" {
					t.Errorf("%s: printed %q", name, out)
				}
			}
		}
		w.row()
		row := w.row()
		if err := os.WriteFile(w.store.EntryPath(row.LedgerID), []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
		c.event(event("Stop", idA))
		if raw, _ := os.ReadFile(w.store.EntryPath(row.LedgerID)); string(raw) != "torn" {
			t.Errorf("a damaged entry was rewritten: %s", raw)
		}
		if log := w.logged(); !strings.Contains(log, "damaged") || strings.Contains(log, "\x1b") {
			t.Errorf("log: %q", log)
		}
	})
}

// Those who have something to say, or to tidy, cost the CLI nothing either.
func TestNoTroubleOfAContributorsReachesTheCLI(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.claude()
		for _, kind := range []string{"panic", "hang"} {
			if out := c.event(event("SessionStart", idA), "HOOK_TEST_TROUBLE="+kind, "HOOK_TEST_SAY=x"); kind == "hang" && out != "" {
				t.Errorf("%s: said %q behind it", kind, out)
			}
			want(t, w.row(), "now a")
		}
		c.event(event("SessionEnd", idA, "reason", "other"), "HOOK_TEST_PRUNE=panic")
		c.event(event("SessionEnd", idA, "reason", "other"))
		c.event(event("SessionEnd", idA, "reason", "clear"))
		if raw, err := os.ReadFile(filepath.Join(w.store.Dir(), "pruned")); string(raw) != "true\n" {
			t.Errorf("pruned: %q, %v", raw, err)
		}
		if log := w.logged(); strings.Count(log, "on order") != 2 {
			t.Errorf("log: %s", log)
		}
	})
}

func TestManyHooksAtOnceAreOneRow(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.claude()
		const many = 50
		for round := range 3 {
			if err := c.in.Encode(order{Payload: event("Stop", fmt.Sprintf("%c", 'a'+round)), Env: c.env, Times: many}); err != nil {
				t.Fatal(err)
			}
			for range many {
				if r := c.report(); r.Code != 0 || r.Stdout+r.Stderr != "" {
					t.Errorf("%+v", r)
				}
			}
		}
		want(t, w.row(), "now c, carried abc,")
		if left, _ := os.ReadDir(filepath.Join(w.store.Dir(), "sessions")); len(left) != 1 {
			t.Errorf("left: %v", left)
		}
		if log := w.logged(); log != "" {
			t.Errorf("log: %s", log)
		}
	})
}

// A hook killed at any step leaves whole files, and the next one goes on.
func TestAHookKilledAtAnyStep(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		for _, first := range []bool{true, false} {
			died := true
			for at := 1; died; at++ {
				w := newWorld(t)
				c := w.claude()
				if !first {
					c.event(event("SessionStart", idA))
				}
				r := c.call(order{Payload: event("UserPromptSubmit", idA), Env: append(c.env, fmt.Sprint(dieVar, "=", at))})
				died = r.Code != 0
				c.event(event("Stop", idA))
				want(t, w.row(), "claude by hook", "now a, carried a,", "turn yours")
				if !died && at < 5 {
					t.Errorf("it died at no more than %d steps", at-1)
				}
			}
		}
	})
}
