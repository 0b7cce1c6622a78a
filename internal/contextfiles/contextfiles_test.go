package contextfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentwrap/test/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Main(m)) }

var born = time.Date(2025, 1, 18, 14, 30, 22, 0, time.UTC)

// world is a working tree beside something that must never be touched.
type world struct {
	*testing.T
	Store
	outside string
	now     time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, outside: base + "/outside", now: born}
	w.Store = Store{Tree: base + "/tree", Now: func() time.Time { return w.now }}
	w.must(os.Mkdir(w.Tree, 0o755), os.MkdirAll(w.outside+"/features", 0o755))
	w.write(w.outside+"/precious", "x")
	return w
}

func (w *world) must(errs ...error) {
	w.Helper()
	if err := errors.Join(errs...); err != nil {
		w.Fatal(err)
	}
}

func (w *world) write(path, text string) {
	w.Helper()
	w.must(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600))
}

// add adds a file for the ledger's session claude-1.
func (w *world) add(category, task, content string, keywords ...string) (path, session string) {
	w.Helper()
	path, session, err := w.Add("", []string{"claude-1"}, Addition{Category: category, Task: task, For: "@TaskManager", Keywords: keywords, Content: []byte(content)})
	w.must(err)
	return path, session
}

func (w *world) manifest(session string) string {
	w.Helper()
	raw, err := os.ReadFile(filepath.Join(w.Dir(session), ".manifest.json"))
	w.must(err)
	return string(raw)
}

func (w *world) is(path, want string) {
	w.Helper()
	raw, err := os.ReadFile(path)
	if want == "" && errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil || string(raw) != want {
		w.Errorf("%s is %q, %v, want %q", path, raw, err, want)
	}
}

func TestTheManifestHasTheContractsFields(t *testing.T) {
	w := newWorld(t)
	path, session := w.add("features", "user-auth", "how", "user-auth", "authentication", "features")
	if !regexp.MustCompile(`^20250118-143022-[a-z2-7]{4}$`).MatchString(session) || path != w.Dir(session)+"/features/user-auth-context.md" {
		t.Errorf("session %s, path %s", session, path)
	}
	w.now = born.Add(113 * time.Second)
	if tasks, again := w.add("tasks", "user-auth", "what", "user-auth", "tasks", "breakdown"); again != session || tasks != w.Dir(session)+"/tasks/user-auth-tasks.md" {
		t.Errorf("then session %s, path %s", again, tasks)
	}
	w.now = born.Add(288 * time.Second)
	_, err := w.Touch(session)
	w.must(err)
	want := `{
  "session_id": "` + session + `",
  "created_at": "2025-01-18T14:30:22Z",
  "last_activity": "2025-01-18T14:35:10Z",
  "context_files": {
    "features/user-auth-context.md": {
      "created": "2025-01-18T14:30:22Z",
      "for": "@TaskManager",
      "keywords": [
        "user-auth",
        "authentication",
        "features"
      ]
    },
    "tasks/user-auth-tasks.md": {
      "created": "2025-01-18T14:32:15Z",
      "for": "@TaskManager",
      "keywords": [
        "user-auth",
        "tasks",
        "breakdown"
      ]
    }
  },
  "context_index": {
    "authentication": [
      "features/user-auth-context.md"
    ],
    "breakdown": [
      "tasks/user-auth-tasks.md"
    ],
    "features": [
      "features/user-auth-context.md"
    ],
    "tasks": [
      "tasks/user-auth-tasks.md"
    ],
    "user-auth": [
      "features/user-auth-context.md",
      "tasks/user-auth-tasks.md"
    ]
  },
  "ledger_id": "claude-1"
}
`
	if diff := cmp.Diff(want, w.manifest(session)); diff != "" {
		t.Error(diff)
	}
	for path, mode := range map[string]os.FileMode{w.Dir(session): 0o700, w.Dir(session) + "/tasks": 0o700, path: 0o600, w.Dir(session) + "/.manifest.json": 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v, want %o", path, st.Mode(), err, mode)
		}
	}
}

func TestNothingIsMadeBeforeTheFirstFile(t *testing.T) {
	w := newWorld(t)
	if _, err := w.Of([]string{"claude-1"}); !errors.Is(err, ErrNoSession) {
		t.Errorf("of: %v", err)
	}
	if _, err := w.Touch("20250118-143022-a4f2"); !errors.Is(err, ErrNoSession) {
		t.Errorf("touch: %v", err)
	}
	if _, err := w.PlanClean("20250118-143022-a4f2"); !errors.Is(err, ErrNoSession) {
		t.Errorf("clean: %v", err)
	}
	if _, _, err := w.Add("", nil, Addition{Category: "features", Task: "../x"}); err == nil {
		t.Error("a path for a task was taken")
	}
	if _, err := os.Lstat(w.Tree + "/.tmp"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf(".tmp: %v", err)
	}
}

func TestFileNames(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"features", "a"}: "features/a-context.md", {"documentation", "a.b_c"}: "documentation/a.b_c-context.md", {"code", "a"}: "code/a-context.md",
		{"tasks", "a"}: "tasks/a-tasks.md", {"general", "a"}: "general/a-context.md",
		{"other", "a"}: "", {"", "a"}: "", {"features", ""}: "", {"features", ".a"}: "", {"features", "-a"}: "", {"features", "a/b"}: "", {"features", ".."}: "",
		{"features", "a b"}: "", {"features", "é"}: "", {"features", "a\x00"}: "", {"features", strings.Repeat("a", 101)}: "",
	} {
		if got, err := FileName(in[0], in[1]); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}

func TestAnotherSessionHasItsOwnFolderAndAResumedOneKeepsIts(t *testing.T) {
	w := newWorld(t)
	_, first := w.add("code", "a", "1")
	_, other, err := w.Add("", []string{"codex-2"}, Addition{Category: "code", Task: "a", Content: []byte("2")})
	w.must(err)
	_, resumed, err := w.Add("", []string{"claude-3", "claude-1"}, Addition{Category: "code", Task: "b", Content: []byte("3")})
	w.must(err)
	_, unknown, err := w.Add("", nil, Addition{Category: "code", Task: "a", Content: []byte("4")})
	w.must(err)
	_, named, err := w.Add(unknown, nil, Addition{Category: "code", Task: "b", Content: []byte("5")})
	w.must(err)
	if first != resumed || first == other || unknown == first || unknown == other || named != unknown {
		t.Errorf("first %s, resumed %s, other %s, without a row %s, by its name %s", first, resumed, other, unknown, named)
	}
	if !strings.Contains(w.manifest(unknown), `"ledger_id": null`) {
		t.Error(w.manifest(unknown))
	}
	if _, _, err := w.Add("../../x", nil, Addition{Category: "code", Task: "a"}); !errors.Is(err, ErrNoSession) {
		t.Errorf("a path for a session: %v", err)
	}
}

func TestAFileWithOtherContentIsNotLost(t *testing.T) {
	w := newWorld(t)
	path, session := w.add("code", "a", "first", "k")
	w.add("code", "a", "first", "l")
	if _, _, err := w.Add("", []string{"claude-1"}, Addition{Category: "code", Task: "a", Content: []byte("second")}); !errors.Is(err, ErrExists) {
		t.Errorf("got %v", err)
	}
	w.is(path, "first")
	_, _, err := w.Add("", []string{"claude-1"}, Addition{Category: "code", Task: "a", Content: []byte("second"), Replace: true})
	w.must(err)
	w.is(path, "second")
	m, err := w.Manifest(session)
	w.must(err)
	want := File{Created: "2025-01-18T14:30:22Z", For: "@TaskManager", Keywords: []string{"k", "l", "a"}}
	if diff := cmp.Diff(want, m.ContextFiles["code/a-context.md"]); diff != "" {
		t.Error(diff)
	}
	w.write(w.Dir(session)+"/code/b-context.md", "by hand")
	if _, _, err := w.Add("", []string{"claude-1"}, Addition{Category: "code", Task: "b", Content: []byte("x"), Replace: true}); !errors.Is(err, ErrExists) {
		t.Errorf("an untracked file: got %v", err)
	}
	w.is(w.Dir(session)+"/code/b-context.md", "by hand")
}

func TestUnknownFieldsOfAManifestAreKept(t *testing.T) {
	w := newWorld(t)
	_, session := w.add("code", "a", "x")
	path := w.Dir(session) + "/.manifest.json"
	w.write(path, strings.Replace(w.manifest(session), `"ledger_id"`, `"status": {"b": [1, 2.50]}, "ledger_id"`, 1))
	w.add("code", "b", "y")
	var all map[string]json.RawMessage
	w.must(json.Unmarshal([]byte(w.manifest(session)), &all))
	if got := strings.Join(strings.Fields(string(all["status"])), ""); got != `{"b":[1,2.50]}` {
		t.Errorf("status is %s", got)
	}
}

func TestConcurrentAddsLoseNothing(t *testing.T) {
	w := newWorld(t)
	const writers, each = 10, 5
	errs := make(chan error)
	for n := range writers {
		go func() {
			var err error
			for i := range each {
				_, _, aerr := w.Add("", []string{"claude-1"}, Addition{Category: Categories[i], Task: fmt.Sprintf("t%d", n), Keywords: []string{"all", fmt.Sprint(n)}, Content: []byte{byte(n)}})
				err = errors.Join(err, aerr)
			}
			errs <- err
		}()
	}
	for range writers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	ids, err := w.IDs()
	w.must(err)
	if len(ids) != 1 {
		t.Fatalf("sessions %q", ids)
	}
	m, err := w.Manifest(ids[0])
	w.must(err)
	if len(m.ContextFiles) != writers*each || len(m.ContextIndex["all"]) != writers*each || len(m.ContextIndex["3"]) != each {
		t.Errorf("%d files, %d by a keyword", len(m.ContextFiles), len(m.ContextIndex["all"]))
	}
}

func TestADamagedManifestIsLeftAlone(t *testing.T) {
	for _, text := range []string{"", "{torn", `[]`, `{"session_id": "another"}`, `{"session_id": 7}`} {
		w := newWorld(t)
		_, session := w.add("code", "a", "x")
		w.write(w.Dir(session)+"/.manifest.json", text)
		if _, err := w.Touch(session); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), w.Dir(session)+"/.manifest.json") {
			t.Errorf("%q: touch: %v", text, err)
		}
		if _, err := w.PlanClean(session); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: clean: %v", text, err)
		}
		if _, next := w.add("code", "a", "y"); next == session {
			t.Errorf("%q: it was added to", text)
		}
		if got := w.manifest(session); got != text {
			t.Errorf("%q was rewritten to %q", text, got)
		}
	}
}

func TestExcludeAddsItsLineOnce(t *testing.T) {
	for before, want := range map[string]string{
		"":                    "/.tmp/sessions/\n",
		"# x\n*.o\n":          "# x\n*.o\n/.tmp/sessions/\n",
		"no newline":          "no newline\n/.tmp/sessions/\n",
		"/.tmp/sessions/\r\n": "/.tmp/sessions/\r\n",
	} {
		w := newWorld(t)
		w.CommonDir = w.Tree + "/.git"
		w.write(w.CommonDir+"/info/exclude", before)
		w.must(w.Exclude(), w.Exclude())
		w.is(w.CommonDir+"/info/exclude", want)
	}
	w := newWorld(t)
	w.CommonDir = w.Tree + "/.git"
	w.must(os.Mkdir(w.CommonDir, 0o755), w.Exclude())
	w.is(w.CommonDir+"/info/exclude", "/.tmp/sessions/\n")
	w.must(os.Remove(w.CommonDir+"/info/exclude"), os.Symlink(w.outside+"/precious", w.CommonDir+"/info/exclude"))
	if err := w.Exclude(); err == nil {
		t.Error("a link was followed")
	}
	w.is(w.outside+"/precious", "x")
}
