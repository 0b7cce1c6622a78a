package gitfacts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// git runs the real git in dir with nothing of the machine's configuration.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func newRepo(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

func TestFactsOfRealRepositories(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main := newRepo(t, filepath.Join(base, "proj"))
	deep := filepath.Join(main, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	tree, detached := filepath.Join(base, "wt"), filepath.Join(base, "det")
	git(t, main, "worktree", "add", "-q", "-b", "feat/x", tree)
	git(t, main, "worktree", "add", "-q", "--detach", detached)
	sub := newRepo(t, filepath.Join(base, "lib"))
	git(t, main, "submodule", "add", "-q", sub, "mod")
	unborn := filepath.Join(base, "unborn")
	git(t, base, "init", "-q", "-b", "trunk", unborn)
	bare, ofBare := filepath.Join(base, "store.git"), filepath.Join(base, "ofbare")
	git(t, base, "clone", "-q", "--bare", main, bare)
	git(t, bare, "worktree", "add", "-q", ofBare, "main")
	reftable := filepath.Join(base, "reft")
	if err := os.MkdirAll(filepath.Join(reftable, ".git", "reftable"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(reftable, ".git", "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	common := filepath.Join(main, ".git")
	for _, tc := range []struct {
		name, dir string
		want      Facts
	}{
		{"main checkout", main, Facts{Root: main, Project: "proj", Branch: "main", GitDir: common, CommonDir: common}},
		{"below it", deep, Facts{Root: main, Project: "proj", Branch: "main", GitDir: common, CommonDir: common}},
		{"linked worktree", tree, Facts{Root: tree, Project: "proj", Branch: "feat/x", Worktree: true, GitDir: common + "/worktrees/wt", CommonDir: common}},
		{"detached HEAD", detached, Facts{Root: detached, Project: "proj", Worktree: true, GitDir: common + "/worktrees/det", CommonDir: common}},
		{"submodule", main + "/mod", Facts{Root: main + "/mod", Project: "mod", Branch: "main", GitDir: common + "/modules/mod", CommonDir: common + "/modules/mod"}},
		{"unborn branch", unborn, Facts{Root: unborn, Project: "unborn", Branch: "trunk", GitDir: unborn + "/.git", CommonDir: unborn + "/.git"}},
		{"worktree of a bare repository", ofBare, Facts{Root: ofBare, Project: "store", Branch: "main", Worktree: true, GitDir: bare + "/worktrees/ofbare", CommonDir: bare}},
		{"reftable", reftable, Facts{Root: reftable, Project: "reft", GitDir: reftable + "/.git", CommonDir: reftable + "/.git"}},
		{"no repository", base, Facts{}},
		{"bare repository", bare, Facts{}},
		{"a folder that is gone", filepath.Join(base, "gone"), Facts{}},
	} {
		if got := At(tc.dir); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestBrokenGitFilesProveNothing(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "prose": "hello", "to nothing": "gitdir: /nowhere/x\n", "to itself": "gitdir: .git\n"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".git"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := At(dir); got.Root == dir {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
