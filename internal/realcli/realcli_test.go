package realcli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestFindPassesOverWhatIsNoProgram(t *testing.T) {
	base := t.TempDir()
	file := func(dir string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(base, dir, "claude")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(dir, to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(base, dir, "claude")); err != nil {
			t.Fatal(err)
		}
	}
	self, real := file("self", 0o700), file("real", 0o700)
	file("plain", 0o600)
	link("shim", self)
	if err := os.MkdirAll(filepath.Join(base, "hard"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(self, filepath.Join(base, "hard", "claude")); err != nil {
		t.Fatal(err)
	}
	link("dangling", "/nowhere/claude")
	link("loop", filepath.Join(base, "loop", "claude"))
	link("linked", real)
	if err := os.MkdirAll(filepath.Join(base, "dir", "claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(base, "fifo"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(base, "fifo", "claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	var path []string
	for _, dir := range []string{"shim", "hard", "empty", "dangling", "loop", "plain", "dir", "fifo", "linked", "real"} {
		path = append(path, filepath.Join(base, dir))
	}
	got := Find("claude", strings.Join(path, ":"), self)
	// The link is exec'd as found, not as what it leads to.
	want := []string{filepath.Join(base, "linked", "claude"), real}
	if diff := cmp.Diff(want, got.Candidates); diff != "" {
		t.Error(diff)
	}
	var why []string
	for _, p := range got.Passed {
		why = append(why, filepath.Base(filepath.Dir(p.Path))+": "+p.Why)
	}
	wantWhy := []string{"shim: agentwrap itself", "hard: agentwrap itself", "dangling: a link to nothing", "loop: a link that leads back to itself",
		"plain: not executable", "dir: a folder", "fifo: not a file"}
	if diff := cmp.Diff(wantWhy, why); diff != "" {
		t.Error(diff)
	}
}

func TestAnEmptyPathElementIsTheWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("claude", nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "/nowhere:", "/nowhere::/x", "."} {
		if got := Find("claude", path, "/nowhere/self"); len(got.Candidates) != 1 || got.Candidates[0] != "./claude" {
			t.Errorf("%q: %v", path, got.Candidates)
		}
	}
}
