package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSessionsBecomeSafeFolderNames(t *testing.T) {
	for session, want := range map[string]string{
		"claude-code:abc-123":                "claude-code-abc-123",
		"claude-code:abc":                    "claude-code-abc",
		"codex:4242":                         "codex-4242",
		"../../etc/passwd":                   "_.._etc_passwd",
		".hidden":                            "hidden",
		"...":                                "session",
		"..":                                 "session",
		"":                                   "session",
		"a b/c":                              "a_b_c",
		"é:ü":                                "_-_",
		"bad\xffbyte\x00":                    "bad_byte_",
		strings.Repeat("x", 300):             strings.Repeat("x", 96),
		"..." + strings.Repeat("é", 97):      strings.Repeat("_", 96),
		"claude-20260807T110001Z-482913":     "claude-20260807T110001Z-482913",
		"\x1b]0;title\x07" + "$(rm -rf ~)\n": "__0_title___rm_-rf____",
	} {
		if got := Name(session); got != want {
			t.Errorf("%q: got %q, want %q", session, got, want)
		}
	}
}

func TestRootIsTheVariableElseBesideTheLeases(t *testing.T) {
	for _, tc := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{RootVar: "/s", LeaseRootVar: "/x/leases", "HOME": "/h"}, "/s"},
		{map[string]string{LeaseRootVar: "/x/leases", "HOME": "/h"}, "/x/scratch"},
		{map[string]string{RootVar: "", LeaseRootVar: "", "HOME": "/h"}, "/h/.openagents/scratch"},
	} {
		if got, err := Root(func(k string) string { return tc.env[k] }); err != nil || got != tc.want {
			t.Errorf("%v: got %q, %v, want %q", tc.env, got, err, tc.want)
		}
	}
	if got, err := Root(func(string) string { return "" }); err == nil {
		t.Errorf("without any: got %q", got)
	}
}

func makeIn(t *testing.T, root, session string) string {
	t.Helper()
	dir, err := Make(root, session)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestMakeGivesAPrivateFolderThatNamesItsSession(t *testing.T) {
	defer unix.Umask(unix.Umask(0))
	root := filepath.Join(t.TempDir(), "new", "scratch")
	dir := makeIn(t, root, "codex:4242")
	if dir != filepath.Join(root, "codex-4242") || SessionOf(dir) != "codex:4242" {
		t.Errorf("got %s of session %q", dir, SessionOf(dir))
	}
	kept := filepath.Join(dir, "kept")
	if err := errors.Join(os.WriteFile(kept, nil, 0o644), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	if again := makeIn(t, root, "codex:4242"); again != dir {
		t.Errorf("the second time it is %s", again)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("what it held: %v", err)
	}
	for path, want := range map[string]os.FileMode{root: 0o700, dir: 0o700, filepath.Join(dir, ".session"): 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %o", path, st.Mode(), err, want)
		}
	}
}

func TestARootThatIsThereKeepsItsMode(t *testing.T) {
	root := filepath.Join(t.TempDir(), "shared")
	if err := errors.Join(os.Mkdir(root, 0o700), os.Chmod(root, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(root)
	dir := makeIn(t, root, "codex:1")
	after, _ := os.Stat(root)
	st, err := os.Stat(dir)
	if err != nil || st.Mode().Perm() != 0o700 || before.Mode() != after.Mode() {
		t.Errorf("root %v, then %v; folder %v, %v", before.Mode(), after.Mode(), st.Mode(), err)
	}
}

func TestKeepAssertsTheFolderThatTheEnvironmentNames(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "new", "dir")
	if err := Keep(dir); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(base, 0o755), Keep(dir), os.Symlink(dir, base+"/link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, base: 0o755} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %o", path, st.Mode(), err, want)
		}
	}
	if err := Keep(base + "/link"); err == nil {
		t.Error("a link was kept")
	}
}

func TestSessionsWhoseNamesFallTogetherGetTheirOwnFolders(t *testing.T) {
	root, long := t.TempDir(), strings.Repeat("long", 30)
	for _, sessions := range [][]string{{"codex:1", "codex-1"}, {"...", "", "session"}, {long + "a", long + "b"}} {
		seen := map[string]string{}
		for round := range 2 {
			for _, s := range sessions {
				dir := makeIn(t, root, s)
				if len(filepath.Base(dir)) > 96 {
					t.Errorf("%s is longer than 96 characters", dir)
				}
				if round == 0 && seen[dir] != "" {
					t.Errorf("%q and %q share %s", s, seen[dir], dir)
				}
				if round == 1 && seen[dir] != "x"+s {
					t.Errorf("%q got %s the second time, which is %q's", s, dir, seen[dir])
				}
				seen[dir] = "x" + s
			}
		}
	}
	const second = "codex-1-6cbe679a"
	if got := filepath.Base(makeIn(t, root, "codex-1")); got != second {
		t.Errorf("got %s", got)
	}
	if err := os.RemoveAll(filepath.Join(root, "codex-1")); err != nil {
		t.Fatal(err)
	}
	if got := filepath.Base(makeIn(t, root, "codex-1")); got != second {
		t.Errorf("after the first session's folder went, the second's is %s", got)
	}
}

func TestMakeRefusesWhatStandsInItsPlace(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	plant := map[string]func(string) error{
		"link":     func(p string) error { return os.Symlink(outside, p) },
		"dangling": func(p string) error { return os.Symlink(filepath.Join(outside, "none"), p) },
		"file":     func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"fifo":     func(p string) error { return unix.Mkfifo(p, 0o600) },
	}
	for name, put := range plant {
		if err := put(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		if dir, err := Make(root, name); err == nil || !strings.Contains(err.Error(), "not a folder") {
			t.Errorf("%s: got %s, %v", name, dir, err)
		}
	}
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("written through the link: %v", left)
	}
	dir := makeIn(t, root, "marked")
	marker := filepath.Join(dir, ".session")
	if err := errors.Join(os.Remove(marker), os.Symlink("/etc/hostname", marker)); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(root, "marked"); err == nil {
		t.Error("a link in place of .session was followed")
	}
}

func TestManyAtOnceEachGetTheirOwnFolder(t *testing.T) {
	root := t.TempDir()
	type got struct{ session, dir string }
	results := make(chan got)
	for i := range 40 {
		go func() {
			session := []string{"codex:1", "codex-1"}[i%2]
			dir, err := Make(root, session)
			if err != nil {
				dir = err.Error()
			}
			results <- got{session, dir}
		}()
	}
	dirs := map[string]map[string]bool{}
	for range 40 {
		r := <-results
		if dirs[r.session] == nil {
			dirs[r.session] = map[string]bool{}
		}
		dirs[r.session][r.dir] = true
	}
	if len(dirs["codex:1"]) != 1 || len(dirs["codex-1"]) != 1 || fmt.Sprint(dirs["codex:1"]) == fmt.Sprint(dirs["codex-1"]) {
		t.Error(dirs)
	}
}
