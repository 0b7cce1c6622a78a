package contextfiles

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"agentwrap/internal/statefile"
	"agentwrap/test/isolate"
)

func (w *world) plan(session string) CleanPlan {
	w.Helper()
	p, err := w.PlanClean(session)
	w.must(err)
	return p
}

// tracked makes a session whose manifest tracks a path of anyone's choice.
func (w *world) tracked(path string) (session string) {
	w.Helper()
	_, session = w.add("code", "own", "x")
	w.write(w.Dir(session)+"/.manifest.json", strings.ReplaceAll(w.manifest(session), "code/own-context.md", path))
	return session
}

func TestCleanTakesTheTrackedFilesAndTheEmptyFolders(t *testing.T) {
	w := newWorld(t)
	_, session := w.add("features", "a", "1")
	w.add("tasks", "a", "2")
	_, other, err := w.Add("", []string{"codex-2"}, Addition{Category: "code", Task: "a", Content: []byte("x")})
	w.must(err)
	p := w.plan(session)
	if diff := cmp.Diff([]string{"features/a-context.md", "tasks/a-tasks.md"}, p.Delete); diff != "" || len(p.Left) != 0 {
		t.Errorf("%s %v", diff, p.Left)
	}
	w.is(w.Dir(session)+"/features/a-context.md", "1")
	deleted, err := w.Clean(p)
	w.must(err)
	if diff := cmp.Diff(p.Delete, deleted); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Lstat(w.Dir(session)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder: %v", err)
	}
	w.is(w.Dir(other)+"/code/a-context.md", "x")
}

func TestCleanLeavesAndNamesWhatIsNotTracked(t *testing.T) {
	w := newWorld(t)
	_, session := w.add("features", "a", "1")
	w.add("code", "a", "2")
	w.write(w.Dir(session)+"/features/notes.md", "mine")
	w.write(w.Dir(session)+"/extra/deep/x", "mine")
	w.must(os.Symlink(w.outside, w.Dir(session)+"/link"))
	p := w.plan(session)
	want := []Left{{"extra/deep/x", "it is not tracked"}, {"features/notes.md", "it is not tracked"}, {"link", "it is not tracked"}}
	if diff := cmp.Diff(want, p.Left); diff != "" {
		t.Error(diff)
	}
	_, err := w.Clean(p)
	w.must(err)
	w.is(w.Dir(session)+"/features/notes.md", "mine")
	w.is(w.Dir(session)+"/extra/deep/x", "mine")
	w.is(w.Dir(session)+"/features/a-context.md", "")
	if _, err := os.Lstat(w.Dir(session) + "/code"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folder: %v", err)
	}
	m, err := w.Manifest(session)
	w.must(err)
	if len(m.ContextFiles) != 0 || len(m.ContextIndex) != 0 {
		t.Errorf("still tracked: %+v", m)
	}
}

func TestAManifestThatPointsOutsideDeletesNothing(t *testing.T) {
	for _, path := range []string{"../../../../outside/precious", "../x", "/etc/hostname", "OUTSIDE/precious", "./code/own-context.md", "code/../code/own-context.md", "code//own-context.md",
		".manifest.json", ".", "", "code", "link/precious", "code/link", "features/precious"} {
		w := newWorld(t)
		path = strings.ReplaceAll(path, "OUTSIDE", w.outside)
		session := w.tracked(path)
		w.must(os.Symlink(w.outside, w.Dir(session)+"/link"), os.Symlink(w.outside+"/precious", w.Dir(session)+"/code/link"), os.Symlink(w.outside, w.Dir(session)+"/features"))
		w.write(w.outside+"/features/precious", "x")
		p := w.plan(session)
		if len(p.Delete) != 0 || len(p.Left) == 0 {
			t.Errorf("%q: the plan deletes %q and leaves %v", path, p.Delete, p.Left)
		}
		p.Delete = []string{path} // even if the plan had it
		if deleted, _ := w.Clean(p); len(deleted) != 0 {
			t.Errorf("%q: deleted %q", path, deleted)
		}
		w.is(w.outside+"/precious", "x")
		w.is(w.outside+"/features/precious", "x")
		w.is(w.Dir(session)+"/code/own-context.md", "x")
	}
}

func TestAFolderSwappedAfterThePlanIsNotFollowed(t *testing.T) {
	for name, swap := range map[string]func(w *world, dir string){
		"the category for a link": func(w *world, dir string) {
			w.must(os.Rename(dir+"/features", dir+"/was"), os.Symlink(w.outside+"/features", dir+"/features"))
		},
		"the session for a link": func(w *world, dir string) {
			w.must(os.Rename(dir, w.outside+"/session"), os.Symlink(w.outside+"/session", dir))
		},
		"the session for another folder": func(w *world, dir string) {
			w.must(os.Rename(dir, dir+"-was"), os.CopyFS(dir, os.DirFS(dir+"-was")))
		},
		"the sessions for a link": func(w *world, dir string) {
			w.must(os.Rename(w.Tree+"/.tmp/sessions", w.outside+"/sessions"), os.Symlink(w.outside+"/sessions", w.Tree+"/.tmp/sessions"))
		},
		"the file for a link": func(w *world, dir string) {
			w.must(os.Remove(dir+"/features/a-context.md"), os.Symlink(w.outside+"/precious", dir+"/features/a-context.md"))
		},
	} {
		w := newWorld(t)
		_, session := w.add("features", "a", "1")
		w.write(w.outside+"/features/a-context.md", "x")
		p := w.plan(session)
		swap(w, w.Dir(session))
		if deleted, err := w.Clean(p); len(deleted) != 0 || err == nil {
			t.Errorf("%s: deleted %q, %v", name, deleted, err)
		}
		w.is(w.outside+"/features/a-context.md", "x")
		w.is(w.outside+"/precious", "x")
	}
}

func TestMountsAreNotCleaned(t *testing.T) { isolate.TestAsRoot(t, mountsAreNotCleaned) }

func mountsAreNotCleaned(t *testing.T) {
	w := newWorld(t)
	_, session := w.add("features", "a", "1")
	w.write(w.outside+"/features/a-context.md", "x")
	w.must(unix.Mount(w.outside+"/features", w.Dir(session)+"/features", "", unix.MS_BIND, ""))
	t.Cleanup(func() { _ = unix.Unmount(w.Dir(session)+"/features", unix.MNT_DETACH) })
	p := w.plan(session)
	if len(p.Delete) != 0 || len(p.Left) != 1 || !strings.Contains(p.Left[0].Why, "mounted") {
		t.Errorf("got %+v", p)
	}
	p.Delete = []string{"features/a-context.md"}
	if deleted, err := w.Clean(p); len(deleted) != 0 || !errors.Is(err, statefile.ErrMount) {
		t.Errorf("deleted %q, %v", deleted, err)
	}
	w.is(w.outside+"/features/a-context.md", "x")
}

func TestALinkInTheTreesWayIsRefused(t *testing.T) {
	for _, at := range []string{".tmp", ".tmp/sessions"} {
		w := newWorld(t)
		if at != ".tmp" {
			w.must(os.Mkdir(w.Tree+"/.tmp", 0o700))
		}
		w.must(os.Symlink(w.outside, w.Tree+"/"+at))
		if _, _, err := w.Add("", nil, Addition{Category: "code", Task: "a"}); err == nil {
			t.Errorf("%s: a link was followed", at)
		}
		if left, _ := os.ReadDir(w.outside); len(left) != 2 {
			t.Errorf("%s: written through the link: %v", at, left)
		}
	}
}

func TestOnlyStaleSessionsOfNobodyAreCleaned(t *testing.T) {
	w := newWorld(t)
	began := func(ledgerID string, at time.Time) string {
		w.Helper()
		w.now = at
		var ids []string
		if ledgerID != "" {
			ids = []string{ledgerID}
		}
		_, session, err := w.Add("", ids, Addition{Category: "code", Task: "a", Content: []byte("x")})
		w.must(err)
		return session
	}
	open := func(id string) bool { return id == "open" }
	edited := func(session, old, text string) {
		w.Helper()
		w.write(w.Dir(session)+"/.manifest.json", strings.ReplaceAll(w.manifest(session), old, text))
	}
	stale, unowned := began("ended", born), began("", born)
	kept := map[string]string{
		"its session is open":         began("open", born),
		"a day old to the second":     began("fresh", born.Add(time.Second)),
		"active in the future":        began("future", born.Add(48*time.Hour)),
		"no manifest":                 began("without", born),
		"an unreadable manifest":      began("torn", born),
		"an unreadable date":          began("dateless", born),
		"the manifest of another":     began("copied", born),
		"nothing but untracked files": began("untracked", born),
	}
	w.must(os.Remove(w.Dir(kept["no manifest"]) + "/.manifest.json"))
	w.write(w.Dir(kept["an unreadable manifest"])+"/.manifest.json", "{")
	edited(kept["an unreadable date"], "2025-01-18T14:30:22Z", "yesterday")
	edited(kept["the manifest of another"], kept["the manifest of another"], stale)
	w.write(w.Dir(kept["nothing but untracked files"])+"/code/mine", "x")
	w.now = born.Add(24*time.Hour + time.Second)
	cleaned, err := w.CleanStale(open)
	w.must(err)
	var got []string
	for _, c := range cleaned {
		w.must(c.Err)
		got = append(got, c.Plan.Session)
	}
	want := map[string]bool{stale: true, unowned: true, kept["nothing but untracked files"]: true}
	if len(got) != len(want) || !want[got[0]] || !want[got[1]] || !want[got[2]] {
		t.Errorf("cleaned %q, want %v", got, want)
	}
	for why, session := range kept {
		file := w.Dir(session) + "/code/a-context.md"
		if why == "nothing but untracked files" {
			file = w.Dir(session) + "/code/mine"
		}
		if _, err := os.Lstat(file); err != nil {
			t.Errorf("%s: %v", why, err)
		}
	}
	if again, err := w.CleanStale(open); err != nil || len(again) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

func TestASessionThatWakesUpIsNotCleaned(t *testing.T) {
	w := newWorld(t)
	_, session := w.add("code", "a", "x")
	w.now = born.Add(25 * time.Hour)
	p := w.plan(session)
	_, err := w.Touch(session)
	w.must(err)
	deleted, err := w.clean(p, func(m *Manifest) bool { return w.stale(m, func(string) bool { return false }) })
	if err != nil || len(deleted) != 0 {
		t.Errorf("deleted %q, %v", deleted, err)
	}
	w.is(w.Dir(session)+"/code/a-context.md", "x")
}
