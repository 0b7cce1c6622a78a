package rescue

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentwrap/internal/git"
	"agentwrap/test/gittest"
)

// A session can write a repository's configuration. No sweep may start what it
// names, nor need the user's identity, key or network.
func TestNoProgramOfTheRepositorysIsStarted(t *testing.T) {
	r, sub := withSubmodule(t)
	r.Write(".gitattributes", "*.x filter=x\n*.p filter=p\n")
	r.Write("f.x", "first\n")
	r.Commit("filtered")
	started := filepath.Join(t.TempDir(), "started")
	trap := "#!/bin/sh\necho $0 >>" + started + "\nexec cat\n"
	for _, repo := range []*gittest.Repo{r, sub} {
		hooks := filepath.Join(t.TempDir(), "hooks")
		if err := os.Mkdir(hooks, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, hook := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "post-checkout", "program"} {
			if err := os.WriteFile(filepath.Join(hooks, hook), []byte(trap), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		program := filepath.Join(hooks, "program")
		for key, value := range map[string]string{
			"core.hooksPath": hooks, "core.fsmonitor": program, "filter.x.clean": program, "filter.x.smudge": program,
			"filter.p.process": program, "filter.p.required": "true", "commit.gpgSign": "true", "gpg.program": program,
			"core.editor": program, "core.sshCommand": program, "credential.helper": program, "core.pager": program,
			"user.useConfigOnly": "true", "core.alternateRefsCommand": program,
		} {
			repo.Git("config", key, value)
		}
	}
	r.Write("f.x", "later\n")
	r.Write("new.p", "new\n")
	sub.Write(".gitattributes", "* filter=x\n")
	sub.Write("a.txt", "later in the submodule\n")
	os.Remove(started)
	result, err := Snapshot(context.Background(), runnerOf(t, r), requestFor(r))
	if err != nil || len(result.Nested) != 1 || len(result.Paths) != 2 {
		t.Fatalf("%+v, %v", result, err)
	}
	if ran, err := os.ReadFile(started); err == nil {
		t.Errorf("these were started: %s", ran)
	}
	r.Try("status")
	if _, err := os.ReadFile(started); err != nil {
		t.Error("plain git status starts none either: the test shows nothing")
	}
}

func TestLargeFileStorage(t *testing.T) {
	r := gittest.New(t)
	r.Write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	pointers := map[string]string{"same.bin": "the same bytes\n", "changed.bin": "as it was\n", "large.bin": strings.Repeat("large\n", heldFile)}
	for name, content := range pointers {
		r.Write(name, fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(content)), len(content)))
	}
	r.Commit("pointers")
	r.Git("config", "filter.lfs.required", "true")
	r.Git("config", "filter.lfs.process", "git-lfs-is-not-here")
	r.Git("config", "filter.lfs.clean", "git-lfs-is-not-here")
	for name, content := range pointers {
		r.Write(name, content) // as git-lfs itself puts it there
	}
	before := r.Files()
	req := requestFor(r)
	result, err := Snapshot(context.Background(), runnerOf(t, r), req)
	if err != nil || result.Outcome != Clean {
		t.Errorf("with what the pointers name: %+v, %v", result, err)
	}
	r.Write("changed.bin", "as it is\n")
	if result, err = Snapshot(context.Background(), runnerOf(t, r), req); err != nil || result.Outcome != Saved {
		t.Fatalf("%+v, %v", result, err)
	}
	if diff := cmp.Diff([]string{"changed.bin"}, result.Paths); diff != "" {
		t.Error(diff)
	}
	if got := r.Git("cat-file", "blob", result.Commit+":changed.bin"); got != "as it is\n" {
		t.Errorf("saved %q", got)
	}
	if diff := cmp.Diff([]string{"changed.bin"}, paths(result.Raw)); diff != "" {
		t.Error(diff)
	}
	delete(before, "changed.bin")
	after := r.Files()
	delete(after, "changed.bin")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

// Some files and folders of a tree are another user's, or closed.
func TestWhatCannotBeReadIsNamed(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.txt", "later\n")
	r.Write("closed", "x\n")
	r.Write("folder/inside", "x\n")
	r.Chmod("closed", 0)
	r.Chmod("dir/b.txt", 0)
	r.Chmod("folder", 0)
	t.Cleanup(func() { r.Chmod("folder", 0o755) })
	cmd := child(r, requestFor(r))
	if os.Getuid() == 0 { // who can read everything
		chown(t, filepath.Dir(r.Dir), 65534)
		if err := os.Chmod(filepath.Dir(filepath.Dir(r.Dir)), 0o711); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		for n, line := range cmd.Env {
			if strings.HasPrefix(line, "HOME=") {
				cmd.Env[n] = "HOME=" + r.Dir
			}
		}
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var result Result
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"closed", "dir/b.txt", "folder"}, paths(result.Skipped)); diff != "" {
		t.Errorf("%s%+v", diff, result.Skipped)
	}
	if diff := cmp.Diff([]string{"a.txt"}, result.Paths); diff != "" {
		t.Error(diff)
	}
}

func chown(t *testing.T, top string, uid int) {
	t.Helper()
	err := filepath.WalkDir(top, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, uid, uid)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A git that says it is 2.30 and otherwise is the one that is here.
func TestAnOlderGit(t *testing.T) {
	r := gittest.New(t)
	r.Git("config", "core.autocrlf", "true")
	r.Write("dos", "one\r\ntwo\r\n")
	r.Write("a.txt", "later\n")
	dir, path := t.TempDir(), ""
	for n, line := range r.Env {
		if rest, ok := strings.CutPrefix(line, "PATH="); ok {
			path = rest
			r.Env[n] = "PATH=" + dir + ":" + rest
		}
	}
	asked := filepath.Join(t.TempDir(), "asked")
	script := "#!/bin/sh\nPATH=" + path + "\necho \"$*\" >>" + asked + "\ncase \"$*\" in *\" version\") echo git version 2.30.2;; *) exec git \"$@\";; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	result, err := Snapshot(context.Background(), runnerOf(t, r), requestFor(r))
	if err != nil || result.Outcome != Saved || len(result.Raw) != 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	calls, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(calls), "core.fsyncObjectFiles=true hash-object") || strings.Contains(string(calls), "core.fsync=") {
		t.Errorf("asked:\n%s", calls)
	}
	if os.Getuid() == 0 { // older gits do not look at the owner themselves
		r.Git("config", "--global", "safe.directory", "*")
		chown(t, r.Dir, 12345)
		if _, err := runnerOf(t, r).Open(context.Background(), r.Dir); err == nil || !strings.Contains(err.Error(), git.ErrForeign.Error()) {
			t.Errorf("another user's repository was opened: %v", err)
		}
	}
}
