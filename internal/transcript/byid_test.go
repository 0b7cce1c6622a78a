package transcript

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// v7 began at 2026-11-29T20:38:24Z.
const v7 = "01a22907-c539-7702-92a9-21e5e7e1e1bd"

func TestFindByID(t *testing.T) {
	const v4, near = "dbb2d933-c034-46f3-af86-fd14043159d6", "dbb2d933-0000-46f3-af86-fd14043159d6"
	folder := filepath.Join(t.TempDir(), "[odd]*")
	put := func(name, data string, age time.Duration) {
		file := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(data), 0o600)); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	head := func(id string) string { return `{"sessionId":"` + id + `","kind":"main"}` + "\n" }
	put("sessions/2026/11/28/rollout-2026-11-28T23-00-00-"+v7+".jsonl", "", 0)
	put("sessions/2026/12/24/rollout-2026-12-24T23-00-00-"+v7+".jsonl", "", 0) // not of its day
	put("sessions/2026/12/24/rollout-2026-12-24T23-00-00-"+v4+".jsonl", "", 0)
	put("tmp/proj/chats/session-2026-11-29T20-43-dbb2d933.jsonl", head(near), 0)
	put("tmp/proj/chats/session-2026-11-29T20-44-dbb2d933.jsonl", head(v4), time.Hour)
	put("tmp/other/chats/session-2026-11-29T20-45-dbb2d933.jsonl", head(v4), time.Minute)
	put("tmp/other/chats/session-2026-11-29T20-46-dbb2d933.jsonl", strings.Repeat("x", 2*Window), 0)
	if err := unix.Mkfifo(filepath.Join(folder, "tmp/other/chats/session-2026-11-29T20-47-dbb2d933.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	put("session-state/"+v4+"/events.jsonl", "", 0)
	const codexs, geminis = "sessions/{day}/rollout-*-{id}.jsonl", "tmp/*/chats/session-*-{id8}.jsonl"
	for _, tc := range []struct{ pattern, id, want string }{
		{codexs, v7, "sessions/2026/11/28/rollout-2026-11-28T23-00-00-" + v7 + ".jsonl"},
		{codexs, v4, "sessions/2026/12/24/rollout-2026-12-24T23-00-00-" + v4 + ".jsonl"},
		{codexs, near, ""},
		{geminis, v4, "tmp/other/chats/session-2026-11-29T20-45-dbb2d933.jsonl"},
		{geminis, near, "tmp/proj/chats/session-2026-11-29T20-43-dbb2d933.jsonl"},
		{geminis, "dbb2d933-1111-46f3-af86-fd14043159d6", ""},
		{geminis, "dbb2", ""},
		{"session-state/{id}/events.jsonl", v4, "session-state/" + v4 + "/events.jsonl"},
		{"session-state/{id}/events.jsonl", "*", ""},
		{"session-state/{id}/events.jsonl", "../session-state/" + v4, ""},
		{"session-state/{id}/events.jsonl", "", ""},
		{"", v4, ""},
	} {
		want := tc.want
		if want != "" {
			want = filepath.Join(folder, want)
		}
		if got, err := Find(folder, tc.pattern, tc.id); err != nil || got != want {
			t.Errorf("%s %s: %q, %v, want %q", tc.pattern, tc.id, got, err, want)
		}
	}
	if got, err := Find(filepath.Join(folder, "absent"), codexs, v7); got != "" || err != nil {
		t.Errorf("no folder: %q, %v", got, err)
	}
	if _, err := Find(folder, "[", v7); !errors.Is(err, path.ErrBadPattern) {
		t.Errorf("a bad pattern: %v", err)
	}
}
