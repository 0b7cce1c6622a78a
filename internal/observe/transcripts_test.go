package observe

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/test/isolate"
)

func (w *world) file(name, text string) {
	w.Helper()
	path := filepath.Join(w.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		w.Fatal(err)
	}
}

// carrying is an entry of a runtime with a conversation and nothing else.
func (w *world) carrying(runtime, id string) *ledger.Entry {
	return w.row(runtime, func(e *ledger.Entry) { e.SessionID = ledger.Ptr(id) })
}

func TestEachRuntimesTranscriptIsFoundByItsID(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const id = "dbb2d933-c034-46f3-af86-fd14043159d6"
		for runtime, file := range map[string]struct{ name, text string }{
			"claude":  {".claude/projects/-w/" + id + ".jsonl", `{"type":"user","promptSource":"typed","message":{"content":"claude's"}}`},
			"codex":   {".codex/sessions/2026/11/29/rollout-2026-11-29T20-38-24-" + id + ".jsonl", `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"codex's"}]}}`},
			"gemini":  {".gemini/tmp/w/chats/session-2026-11-29T20-43-dbb2d933.jsonl", `{"sessionId":"` + id + `"}` + "\n" + `{"type":"user","content":[{"text":"gemini's"}]}`},
			"qwen":    {".qwen/projects/-w/chats/" + id + ".jsonl", `{"type":"user","message":{"parts":[{"text":"qwen's"}]}}`},
			"copilot": {".copilot/session-state/" + id + "/events.jsonl", `{"type":"user.message","data":{"content":"copilot's"}}`},
		} {
			w.file(file.name, file.text+"\n")
			e := w.carrying(runtime, id)
			if s := w.session(w.view(Want{Texts: true}), e.LedgerID); s.Title != runtime+"'s" || s.facts.Transcript == nil {
				t.Errorf("%s: title %q, transcript %+v", runtime, s.Title, s.facts.Transcript)
			}
		}
	})
}

func TestASessionInASharedStoreIsItsOwnRow(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.src.OpencodeStore = filepath.Join(w.home, "opencode.db")
		absent := w.carrying("opencode", "ses_1")
		if s := w.session(w.view(Want{Texts: true}), absent.LedgerID); s.facts.Transcript != nil {
			t.Errorf("without a store: %+v", s.facts.Transcript)
		}
		db, err := sql.Open("sqlite", w.src.OpencodeStore)
		if err == nil {
			_, err = db.Exec(`CREATE TABLE session (id text, title text, time_updated integer);
				CREATE TABLE message (id text, session_id text, time_created integer, time_updated integer, data text);
				CREATE TABLE part (id text, message_id text, data text);
				INSERT INTO session VALUES ('ses_1', 'one', 1000), ('ses_2', 'two', 2000)`)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]string{"ses_1": "one", "ses_2": "two"} {
			e := w.carrying("opencode", id)
			s := w.session(w.view(Want{Texts: true}), e.LedgerID)
			at := map[string]int64{"ses_1": 1, "ses_2": 2}[id]
			if s.Title != want || s.facts.Transcript == nil || !s.facts.Transcript.ModTime.Equal(time.Unix(at, 0)) || e.TranscriptPath != nil {
				t.Errorf("%s: title %q, %+v", id, s.Title, s.facts.Transcript)
			}
		}
		unheard := w.carrying("opencode", "ses_3")
		if s := w.session(w.view(Want{}), unheard.LedgerID); s.facts.Transcript != nil {
			t.Errorf("a session that the store does not know: %+v", s.facts.Transcript)
		}
	})
}
