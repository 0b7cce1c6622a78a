package runtimes

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const otherUUID = "aaaaaaaa-0b0a-4908-8706-050403020100"

func TestWhereACLIsFolderIs(t *testing.T) {
	for _, tc := range []struct{ runtime, configHome, home, want string }{
		{"claude", "", "/h", "/h/.claude"},
		{"claude", "/c", "/h", "/c"},
		{"gemini", "/g", "/h", "/g/.gemini"},
		{"gemini", "", "/h", "/h/.gemini"},
		{"codex", "", "", ""},
		{"codex", "/c", "", "/c"},
		{"opencode", "", "/h", ""},
		{"nobodys-cli", "", "/h", ""},
	} {
		if got := For(tc.runtime).Folder(tc.configHome, tc.home); got != tc.want {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}

func TestTheConversationOfAnOpenFile(t *testing.T) {
	lock := func(id string) string { return "/h/.codex/thread-writer-locks/" + id + ".lock" }
	for name, tc := range map[string]struct {
		runtime, folder string
		open            []string
		want            string
	}{
		"its own":                 {"codex", "/h/.codex", []string{"/dev/pts/1", "pipe:[1]", lock(uuid), "/h/.codex/log/x"}, uuid},
		"twice":                   {"codex", "/h/.codex/", []string{lock(uuid), lock(uuid)}, uuid},
		"a daemon's many":         {"codex", "/h/.codex", []string{lock(uuid), lock(otherUUID), lock(uuid)}, ""},
		"none":                    {"codex", "/h/.codex", []string{"/dev/null"}, ""},
		"another account's":       {"codex", "/other", []string{lock(uuid)}, ""},
		"deleted":                 {"codex", "/h/.codex", []string{lock(uuid) + " (deleted)"}, ""},
		"no id":                   {"codex", "/h/.codex", []string{lock("latest")}, ""},
		"a folder that is odd":    {"codex", "/h/[a]*", []string{"/h/[a]*/thread-writer-locks/" + uuid + ".lock"}, uuid},
		"folder not known":        {"codex", "", []string{"thread-writer-locks/" + uuid + ".lock"}, ""},
		"a CLI that shows none":   {"claude", "/h/.claude", []string{"/h/.claude/" + uuid + ".jsonl"}, ""},
		"a CLI that nobody knows": {"nobodys-cli", "/h", []string{lock(uuid)}, ""},
	} {
		if got := For(tc.runtime).IDOfDescriptors(tc.folder, tc.open); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestTheConversationOfAFileWithThePid(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "[odd]*?")
	put := func(id, name string, at time.Time) {
		path := filepath.Join(folder, "session-state", id, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	put(uuid, "inuse.7.lock", now)
	put(otherUUID, "inuse.8.lock", now)
	put("bbbbbbbb-0b0a-4908-8706-050403020100", "inuse.7.lock", now.Add(-time.Hour)) // an earlier process 7
	put("not-an-id", "inuse.7.lock", now)
	put("cccccccc-0b0a-4908-8706-050403020100", "inuse.9.lock", now)
	put("dddddddd-0b0a-4908-8706-050403020100", "inuse.9.lock", now)
	if err := os.MkdirAll(filepath.Join(folder, "session-state", "eeeeeeee-0b0a-4908-8706-050403020100"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(folder, "session-state", "eeeeeeee-0b0a-4908-8706-050403020100", "inuse.10.lock"), 0o600); err != nil {
		t.Fatal(err)
	}
	for pid, want := range map[int]string{7: uuid, 8: otherUUID, 9: "", 10: "", 77: ""} {
		if got := For("copilot").IDOfFile(folder, pid, now.Add(-time.Second)); got != want {
			t.Errorf("pid %d: %q, want %q", pid, got, want)
		}
	}
	for _, none := range []string{"", filepath.Join(folder, "absent")} {
		if got := For("copilot").IDOfFile(none, 7, now); got != "" {
			t.Errorf("%q: %q", none, got)
		}
	}
}
