package opencodedb

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

const real = "ses_dd65dcb9bffeexQVPCga9sWGca"

// write makes a database as opencode does and leaves it open, as opencode does
// while it runs.
func write(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "_pragma=journal_mode(wal)"}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	sample, err := os.ReadFile("testdata/opencode-1.18.33.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append([]string{string(sample)}, statements...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func session(t *testing.T, path, id string) (title, activity string, changed, interrupted time.Time) {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d, err := s.Session(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d.Title, d.Activity, d.ModTime, d.Interrupted
}

func TestARealSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	write(t, path)
	title, activity, changed, interrupted := session(t, path, real)
	// It was broken off right behind its answer.
	if at := time.UnixMilli(1795994833468); title != "A title" || activity != "The file is made." || !changed.Equal(at) || !interrupted.Equal(at) {
		t.Errorf("%q, %q, %v, %v", title, activity, changed, interrupted)
	}
}

const (
	untitled = `UPDATE session SET title = 'New session - 2026-11-29T20:50:48.602Z', time_updated = 1795994840000;`
	atWork   = `INSERT INTO message VALUES ('msg_3', '` + real + `', 1795994840001, 1795994840002, '{"role":"assistant"}');
		INSERT INTO part VALUES ('prt_3', 'msg_3', '` + real + `', 1, 1, '{"type":"text","text":"I look."}');
		INSERT INTO part VALUES ('prt_4', 'msg_3', '` + real + `', 2, 2, '{"type":"tool","tool":"bash","state":{"status":"running","input":{"command":"sleep 9"}}}');
		INSERT INTO part VALUES ('prt_5', 'msg_3', '` + real + `', 3, 3, '{"type":"step-finish"}');`
)

func TestWhatTheStoreTells(t *testing.T) {
	for _, tc := range []struct{ name, change, title, activity string }{
		{"a placeholder is no title", untitled, "make a file", "The file is made."},
		{"at work", atWork, "A title", "bash: sleep 9"},
		{"no message yet", `DELETE FROM part; DELETE FROM message; ` + untitled, "", ""},
		{"a message without parts", `DELETE FROM part; ` + untitled, "", ""},
		{"damaged rows", `UPDATE part SET data = '{"type":"te'; UPDATE message SET data = x'00ff'; ` + untitled, "", ""},
		{"what the harness added is no prompt", `UPDATE part SET data = '{"type":"text","synthetic":true,"text":"reminder"}' WHERE data LIKE '%make a file"%'; ` + untitled, "", "The file is made."},
		{"a part of 12 MB", `UPDATE part SET data = json_object('type', 'text', 'text', printf('%.*c', 12582912, 'z')) WHERE data LIKE '%file is made%'`, "A title", strings.Repeat("z", 200) + "…"},
		{"lines and invalid text", `UPDATE session SET title = 'a' || char(10) || 'b' || CAST(x'ff' AS TEXT)`, "a b\uFFFD", "The file is made."},
	} {
		path := filepath.Join(t.TempDir(), "opencode.db")
		write(t, path, tc.change)
		if title, activity, _, _ := session(t, path, real); title != tc.title || activity != tc.activity {
			t.Errorf("%s: %.40q, %.40q", tc.name, title, activity)
		}
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range list {
		raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f.Name(), "-shm") { // its locks are what readers write
			found[f.Name()] = string(raw) + info.ModTime().String()
		}
	}
	return found
}

func TestNothingOfTheStoreIsChanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd name?#% 1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "opencode.db")
	db := write(t, path)
	for _, state := range []string{"open", "closed"} {
		before := files(t, dir)
		if title, _, _, _ := session(t, path, real); title != "A title" {
			t.Errorf("%s: %q", state, title)
		}
		if diff := cmp.Diff(before, files(t, dir)); diff != "" {
			t.Errorf("%s: %s", state, diff)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the last look was not at a closed store: %v", err)
	}
}

func TestReadingBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	db := write(t, path)
	done := make(chan error, 1)
	go func() {
		for n := range 300 {
			if _, err := db.Exec(`UPDATE session SET title = 'A title', time_updated = ?`, 1795994840000+n); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 100 {
		if title, _, _, _ := session(t, path, real); title != "A title" {
			t.Fatalf("%q", title)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNoStore(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("good.db")).Close()
	good, err := os.ReadFile(at("good.db"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"empty": nil, "text": []byte(strings.Repeat("no database\n", 1000)), "cut": good[:len(good)/2], "zeroed": append(good[:200:200], make([]byte, 20000)...)} {
		if err := os.WriteFile(at(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(unix.Mkfifo(at("fifo"), 0o600), os.Symlink(at("loop"), at("loop"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"empty", "text", "cut", "zeroed", "fifo", "loop", ".", "absent"} {
		s, err := Open(at(name))
		if err == nil {
			_, err = s.Session(context.Background(), real)
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), at(name)) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "absent" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("absent: %v", err)
		}
	}
	s, err := Open(at("good.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Session(context.Background(), "ses_' OR 1=1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown id: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Session(ctx, real); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestWhereTheStoreIs(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"/d/opencode/opencode.db":              {"XDG_DATA_HOME": "/d", "HOME": "/h"},
		"/h/.local/share/opencode/opencode.db": {"HOME": "/h"},
		"":                                     {},
	} {
		if got := Path(func(name string) string { return env[name] }); got != want {
			t.Errorf("%v: %q", env, got)
		}
	}
}

func FuzzParts(f *testing.F) {
	f.Add("tool", "", "bash", `{"command":"ls"}`)
	f.Add("text", "x\ny", "", `{"command":"l`)
	f.Fuzz(func(t *testing.T, kind, text, tool, input string) {
		p := part{kind: kind, text: text, tool: tool, input: input}
		for _, text := range []string{p.prompt(), p.activity()} {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r") || len(text) > 210 {
				t.Errorf("%q", text)
			}
		}
	})
}
