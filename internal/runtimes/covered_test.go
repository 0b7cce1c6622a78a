package runtimes

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheCoveredSetIsTheSymlinks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"codex", "claude", "agentwrap"} {
		if err := os.Symlink("/opt/agentwrap", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "note"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Covered(dir)
	if diff := cmp.Diff([]string{"claude", "codex"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, none := range []string{filepath.Join(dir, "absent"), ""} {
		if got, err := Covered(none); got != nil || err != nil {
			t.Errorf("%q: %v, %v", none, got, err)
		}
	}
}
