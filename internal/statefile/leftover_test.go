package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLeftoversOfKilledWritersGo(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for name, aged := range map[string]bool{".a.json.12-x.tmp": true, ".b.json.13-y.tmp": false, "c.json": true, ".d.tmp.json": true, "e.tmp": true} {
		path := filepath.Join(dir, name)
		err := os.WriteFile(path, nil, 0o600)
		if aged {
			err = errors.Join(err, os.Chtimes(path, old, old))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n, err := RemoveLeftovers(dir, time.Now().Add(-time.Hour)); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".a.json.12-x.tmp")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the leftover is still there")
	}
	if n, err := RemoveLeftovers(dir+"/none", time.Now()); n != 0 || err != nil {
		t.Errorf("no folder: %d, %v", n, err)
	}
}

func TestABoundedLogKeepsTheOneBeforeIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, text := range []string{"first\n", "second\n", "third\n"} {
		if err := AppendBounded(path, []byte(text), 10); err != nil {
			t.Fatal(err)
		}
	}
	now, err := os.ReadFile(path)
	before, berr := os.ReadFile(path + ".1")
	if errors.Join(err, berr) != nil || string(now) != "third\n" || string(before) != "first\nsecond\n" {
		t.Errorf("%q after %q, %v", now, before, errors.Join(err, berr))
	}
}
