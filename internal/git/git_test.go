package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentwrap/test/gittest"
)

func runnerFor(t testing.TB, environ []string) *Runner {
	t.Helper()
	r, err := New(environ)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// script is a program in a folder of its own that stands in for git.
func script(t *testing.T, text string) *Runner {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return runnerFor(t, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()})
}

func TestGitAbsentIsToldApart(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("git", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"PATH=", "PATH=.", "PATH=" + t.TempDir(), "HOME=/"} {
		if _, err := New([]string{path}); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v, want ErrAbsent", path, err)
		}
	}
}

func TestTheInheritedEnvironmentDoesNotSteerGit(t *testing.T) {
	repo := gittest.New(t)
	other := gittest.New(t)
	environ := append(repo.Env,
		"GIT_DIR="+other.Path(".git"), "GIT_WORK_TREE="+other.Dir, "GIT_INDEX_FILE=/nonexistent/index",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true",
		"GIT_CONFIG_PARAMETERS='core.bare'='true'", "GIT_TRACE=1", "GIT_NAMESPACE=x", "LC_MESSAGES=de_DE.UTF-8", "LANGUAGE=de",
	)
	opened, err := runnerFor(t, environ).Open(context.Background(), repo.Path("dir"))
	if err != nil {
		t.Fatal(err)
	}
	if opened.Top != repo.Dir || opened.GitDir != repo.Path(".git") || opened.CommonDir != repo.Path(".git") || opened.Main() != repo.Dir {
		t.Errorf("opened %+v, want the repository at %s", opened, repo.Dir)
	}
}

func TestOpenNamesTheFoldersOfEachShape(t *testing.T) {
	plain := gittest.New(t)
	linked := plain.Worktree("side")
	sha256 := gittest.New(t, "--object-format=sha256")
	odd := gittest.Init(t)
	odd = odd.At(odd.Path("a\nb \xff"))
	if err := os.MkdirAll(odd.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	odd.Git("init", "-q")
	bare := plain.At(filepath.Join(filepath.Dir(plain.Dir), "bare.git"))
	plain.Git("clone", "-q", "--bare", plain.Dir, bare.Dir)
	ofBare := bare.At(filepath.Join(filepath.Dir(plain.Dir), "of-bare"))
	bare.Git("worktree", "add", "-q", ofBare.Dir)
	runner := runnerFor(t, plain.Env)
	for name, c := range map[string]struct {
		dir, top, common, main, format string
	}{
		"main checkout":     {plain.Path("dir"), plain.Dir, plain.Path(".git"), plain.Dir, "sha1"},
		"linked worktree":   {linked.Dir, linked.Dir, plain.Path(".git"), plain.Dir, "sha1"},
		"worktree of bare":  {ofBare.Dir, ofBare.Dir, bare.Dir, "", "sha1"},
		"sha256":            {sha256.Dir, sha256.Dir, sha256.Path(".git"), sha256.Dir, "sha256"},
		"newline, no UTF-8": {odd.Dir, odd.Dir, odd.Path(".git"), odd.Dir, "sha1"},
	} {
		repo, err := runner.Open(context.Background(), c.dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if repo.Top != c.top || repo.CommonDir != c.common || repo.Main() != c.main || repo.Format != c.format {
			t.Errorf("%s: top %q, common %q, main %q, %s", name, repo.Top, repo.CommonDir, repo.Main(), repo.Format)
		}
	}
}

func TestOpenSaysWhyThereIsNoTree(t *testing.T) {
	repo := gittest.New(t)
	runner := runnerFor(t, repo.Env)
	bare := gittest.Init(t, "--bare")
	foreign := gittest.New(t)
	cases := map[string]struct {
		dir  string
		want error
	}{
		"gone":              {repo.Path("nowhere"), ErrNoDir},
		"below a file":      {repo.Path("a.txt/x"), ErrNoDir},
		"a file":            {repo.Path("a.txt"), ErrNoDir},
		"no repository":     {t.TempDir(), ErrNotRepository},
		"bare":              {bare.Dir, ErrNoTree},
		"in the git folder": {repo.Path(".git/objects"), ErrNoTree},
	}
	if os.Getuid() == 0 {
		if err := os.Chown(foreign.Dir, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(foreign.Path(".git"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
		cases["another user's"] = struct {
			dir  string
			want error
		}{foreign.Dir, ErrForeign}
	} else {
		t.Log("not root: another user's repository is left out")
	}
	for name, c := range cases {
		if _, err := runner.Open(context.Background(), c.dir); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.dir) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if out, err := foreign.At("/").Try("config", "--global", "--get-all", "safe.directory"); err == nil {
		t.Errorf("safe.directory was set: %s", out)
	}
}

// Reading a repository must not start what it names: its hooks, its file system
// monitor, the filters of its attributes, nor those of a nested repository.
func TestNothingThatTheRepositoryNamesIsStarted(t *testing.T) {
	repo := gittest.New(t)
	started := filepath.Join(t.TempDir(), "started")
	trap := "echo \"$0 $*\" >>" + started + "; cat"
	arm := func(r *gittest.Repo) {
		for _, key := range []string{"filter.x.clean", "filter.x.smudge", "filter.y.process", "filter.odd name.clean", "filter.a.b.clean"} {
			r.Git("config", key, trap)
		}
		r.Git("config", "filter.x.required", "true")
		r.Git("config", "core.fsmonitor", trap)
		r.Git("config", "core.hooksPath", "hooks")
		r.Git("config", "diff.external", trap)
	}
	sub := gittest.New(t)
	repo.Git("submodule", "--quiet", "add", sub.Dir, "sub")
	repo.Write(".gitattributes", "*.x filter=x\n*.y filter=y\n*.o filter=\"odd\\ name\"\n*.b filter=a.b\n")
	for _, name := range []string{"f.x", "f.y", "f.o", "f.b"} {
		repo.Write(name, "first\n")
	}
	repo.Commit("filtered")
	inside := repo.At(repo.Path("sub"))
	inside.Write(".gitattributes", "* filter=x\n")
	inside.Write("f.x", "first\n")
	arm(repo)
	arm(inside)
	for _, name := range []string{"f.x", "f.y", "f.o", "f.b", "sub/a.txt"} {
		repo.Write(name, "later\n")
	}
	runner := runnerFor(t, repo.Env)
	count, err := runner.DirtyCount(context.Background(), repo.Path("dir"))
	if err != nil || count != 5 {
		t.Errorf("count %d, %v; want the 4 files and the submodule", count, err)
	}
	if ran, err := os.ReadFile(started); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("these were started: %s", ran)
	}
	repo.Try("status") // the trap does spring
	if _, err := os.ReadFile(started); err != nil {
		t.Error("plain git status starts none of them either: the test shows nothing")
	}
}

func TestAFilterThatCannotBeSwitchedOffIsRefused(t *testing.T) {
	repo := gittest.New(t)
	repo.Git("config", "filter.a=b.clean", "false")
	_, err := runnerFor(t, repo.Env).Open(context.Background(), repo.Dir)
	if err == nil || !strings.Contains(err.Error(), `the filter "a=b"`) {
		t.Errorf("opened with %v", err)
	}
}
