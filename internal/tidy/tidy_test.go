package tidy

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agentwrap/internal/contextfiles"
	"agentwrap/internal/ledger"
	"agentwrap/internal/scratch"
	"agentwrap/internal/settings"
	"agentwrap/internal/statefile"
)

type world struct {
	*testing.T
	Tidier
	home string
	now  time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, home: home, now: time.Now()}
	w.Tidier = Tidier{Ledger: ledger.Open(home + "/ledger"), Settings: settings.Defaults().Scratch, Now: func() time.Time { return w.now }, Getenv: func(k string) string {
		if k == "HOME" {
			return home
		}
		return ""
	}}
	return w
}

func (w *world) must(errs ...error) {
	w.Helper()
	if err := errors.Join(errs...); err != nil {
		w.Fatal(err)
	}
}

func (w *world) run() Report {
	w.Helper()
	r, done, err := w.Tidier.Run()
	if !done || err != nil || len(r.Failed) > 0 {
		w.Fatalf("done %t, %v, %v", done, err, r.Failed)
	}
	return r
}

func (w *world) row(e *ledger.Entry) string {
	w.Helper()
	e.Runtime, e.StartedAt = "claude", ledger.At(w.now)
	w.must(w.Ledger.Create(e, statefile.Lazy))
	return e.LedgerID
}

func TestWhatSessionsLeftGoesWhenItMay(t *testing.T) {
	w := newWorld(t)
	ended := ledger.At(w.now)
	over := w.row(&ledger.Entry{FinishedAt: ended})
	root, err := scratch.Root(w.Getenv)
	w.must(err)
	dir, err := scratch.Make(root, over)
	w.must(err, w.Ledger.Update(over, ledger.Within(time.Minute), func(e *ledger.Entry) error { e.Scratch = &dir; return nil }))
	tree := contextfiles.Store{Tree: w.home + "/tree", Now: w.Now}
	w.must(os.Mkdir(tree.Tree, 0o700))
	stale, _, err := tree.Add("", []string{over}, contextfiles.Addition{Category: "code", Task: "a"})
	first := w.row(&ledger.Entry{FinishedAt: ended})
	resumed, _, rerr := tree.Add("", []string{first}, contextfiles.Addition{Category: "code", Task: "a"})
	w.row(&ledger.Entry{ResumedFrom: &first})
	w.must(err, rerr, tree.Register(w.Ledger.Dir()), tree.Register(w.Ledger.Dir()))
	if r := w.run(); len(r.Scratch)+len(r.Context)+len(r.Large) != 0 {
		t.Errorf("at once: %+v", r)
	}
	w.now = w.now.Add(25 * time.Hour)
	if r := w.run(); len(r.Scratch) != 0 || !slices.Equal(r.Context, []string{stale}) {
		t.Errorf("a day later: %+v", r)
	}
	w.now = w.now.Add(7 * 24 * time.Hour)
	if r := w.run(); !slices.Equal(r.Scratch, []string{dir}) || len(r.Context) != 0 {
		t.Errorf("a week later: %+v", r)
	}
	if _, err := os.Lstat(resumed); err != nil {
		t.Errorf("of a session that was resumed: %v", err)
	}
}

func TestTidyingRestsBetween(t *testing.T) {
	w := newWorld(t)
	w.row(&ledger.Entry{})
	w.run()
	if _, done, err := w.Tidier.Run(); done || err != nil {
		t.Errorf("at once again: %t, %v", done, err)
	}
	w.now = w.now.Add(Interval + time.Second)
	w.run()
}

func TestALargeFolderIsToldOnceUntilItShrinks(t *testing.T) {
	w := newWorld(t)
	w.Settings.NoticeBytes = 1 << 20
	root, err := scratch.Root(w.Getenv)
	w.must(err)
	dir, err := scratch.Make(root, "codex:1")
	w.must(err)
	for _, step := range []struct {
		bytes int
		told  bool
	}{{1 << 10, false}, {2 << 20, true}, {3 << 20, false}, {1 << 10, false}, {2 << 20, true}} {
		w.must(os.WriteFile(dir+"/f", make([]byte, step.bytes), 0o600))
		w.row(&ledger.Entry{})
		w.now = w.now.Add(Interval + time.Second)
		if r := w.run(); (len(r.Large) == 1) != step.told || step.told && (r.Large[0].Path != dir || r.Large[0].Session != "codex:1" || r.Large[0].Bytes < 2<<20) {
			t.Errorf("at %d bytes: %+v", step.bytes, r)
		}
	}
}

func TestADamagedLedgerKeepsContextFiles(t *testing.T) {
	w := newWorld(t)
	id := w.row(&ledger.Entry{})
	tree := contextfiles.Store{Tree: w.home, Now: w.Now}
	path, _, err := tree.Add("", []string{id}, contextfiles.Addition{Category: "code", Task: "a"})
	w.must(err, tree.Register(w.Ledger.Dir()), os.WriteFile(w.Ledger.EntryPath(id), []byte("{"), 0o600))
	w.now = w.now.Add(48 * time.Hour)
	if _, _, err := w.Tidier.Run(); err == nil {
		t.Error("a damaged entry was not told")
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}
