package rescue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"agentwrap/internal/git"
	"agentwrap/test/gittest"
	"agentwrap/test/isolate"
)

// kills is how often a snapshot is killed; half of the times git dies with it.
const kills = 200

func TestKilledAtAnyInstantItLeavesNoHalfRef(t *testing.T) {
	r := gittest.New(t)
	for n := range 30 {
		r.Write(fmt.Sprintf("new/%d", n), strings.Repeat("x\n", 5000*n))
	}
	r.Write("a.txt", "later\n")
	want, before := work(r), r.Fingerprint()
	start := time.Now()
	if out, err := child(r, requestFor(r)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := time.Since(start)
	if diff := cmp.Diff(want, checkedOut(r, refPrefix+testID)); diff != "" {
		t.Fatal(diff)
	}
	tree, done := r.Git("rev-parse", refPrefix+testID+"^{tree}"), 0
	for n := range kills {
		r.Git("update-ref", "-d", refPrefix+testID)
		cmd := child(r, requestFor(r))
		if n%2 == 1 {
			cmd.SysProcAttr = &syscall.SysProcAttr{ // the first of its processes: all the others end with it
				Cloneflags:  syscall.CLONE_NEWPID | syscall.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			}
		}
		if err := cmd.Start(); err != nil {
			isolate.Missing(t, "namespaces: %v", err)
		}
		killer := time.AfterFunc(time.Duration(rand.Int64N(int64(whole))), func() { cmd.Process.Kill() })
		if cmd.Wait() == nil {
			done++
		}
		killer.Stop()
		checkRefs(t, r, tree)
		finishes(t, r, tree)
	}
	if done == kills {
		t.Error("not one was killed in time")
	}
	t.Logf("%d of %d came to their end, which takes %v", done, kills, whole)
	if diff := cmp.Diff(before, r.Fingerprint()); diff != "" {
		t.Error(diff)
	}
	old := time.Now().Add(-2 * staleQuarantine)
	for _, left := range leftIn(r) {
		if err := os.Chtimes(left, old, old); err != nil {
			t.Error(err)
		}
	}
	r.Git("update-ref", "-d", refPrefix+testID)
	finishes(t, r, tree)
	if left := leftIn(r); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// leftIn are the files that a snapshot that failed could leave behind.
func leftIn(r *gittest.Repo) []string {
	var left []string
	for _, pattern := range []string{"fast_import_crash*", "objects/tmp_*", "objects/pack/tmp_*"} {
		found, err := filepath.Glob(r.Path(".git/" + pattern))
		if err != nil {
			r.Fatal(err)
		}
		left = append(left, found...)
	}
	return left
}

// checkRefs shows that there is no ref, or one that is whole.
func checkRefs(t *testing.T, r *gittest.Repo, tree string) {
	t.Helper()
	for _, ref := range strings.Fields(r.Git("for-each-ref", "--format=%(refname)", "refs/rescued", scratchRef)) {
		if ref != refPrefix+testID {
			t.Errorf("there is a ref %s", ref)
		}
		r.Git("rev-list", "--objects", "--quiet", ref) // fails on a missing object
		if got := r.Git("rev-parse", ref+"^{tree}"); got != tree {
			t.Errorf("half a snapshot: tree %s, want %s", got, tree)
		}
	}
}

// finishes shows that the next try comes to the end.
func finishes(t *testing.T, r *gittest.Repo, tree string) {
	t.Helper()
	lock := r.Path(".git/" + refPrefix + testID + ".lock")
	old := time.Now().Add(-2 * staleLock)
	_ = os.Chtimes(lock, old, old) // as the sweep a few minutes later finds it
	result, err := Snapshot(context.Background(), runnerOf(t, r), requestFor(r))
	if err != nil || result.Outcome != Saved {
		t.Fatalf("the next try: %+v, %v", result, err)
	}
	checkRefs(t, r, tree)
}

func TestAYoungLockIsSomeoneElses(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.txt", "later\n")
	lock := r.Path(".git/" + refPrefix + testID + ".lock")
	r.Write(".git/"+refPrefix+testID+".lock", "")
	if _, err := Snapshot(context.Background(), runnerOf(t, r), requestFor(r)); err == nil || !strings.Contains(err.Error(), "File exists") {
		t.Errorf("ended with %v", err)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Error("the lock of another is gone")
	}
}

// At each size of the space that is left, the snapshot is whole or there is none.
func TestAFullDiskLeavesNoHalfRef(t *testing.T) {
	isolate.TestAsRoot(t, func(t *testing.T) {
		r := gittest.New(t)
		disk := t.TempDir()
		if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=3m"); err != nil {
			isolate.Missing(t, "a file system of its own: %v", err)
		}
		defer unix.Unmount(disk, unix.MNT_DETACH)
		full := r.At(filepath.Join(disk, "repo"))
		r.Git("clone", "-q", r.Dir, full.Dir)
		full.Write("a.txt", "later\n")
		for n := range 20 {
			full.Write(fmt.Sprintf("new/%d", n), noise(20_000))
		}
		want := work(full)
		failed := 0
		for free := int64(0); ; free += 32 << 10 {
			if free > 3<<20 {
				t.Fatal("it fails with all of the disk to itself")
			}
			fill(t, disk, free)
			before := full.Fingerprint()
			result, err := Snapshot(context.Background(), runnerOf(t, full), requestFor(full))
			os.Remove(filepath.Join(disk, "ballast"))
			if err == nil {
				t.Logf("saved with %d bytes left, after %d failures", free, failed)
				if diff := cmp.Diff(want, checkedOut(full, result.Commit)); diff != "" {
					t.Error(diff)
				}
				break
			}
			failed++
			if !strings.Contains(err.Error(), "Out of diskspace") && !strings.Contains(strings.ToLower(err.Error()), "no space left on device") {
				t.Errorf("with %d bytes left: %v", free, err)
			}
			if diff := cmp.Diff(before, full.Fingerprint()); diff != "" {
				t.Error(diff)
			}
			if refs := full.Git("for-each-ref", "refs/rescued", scratchRef); refs != "" {
				t.Errorf("there is a ref: %s", refs)
			}
			if got := full.Git("count-objects", "-v"); !strings.Contains(got, "garbage: 0") || len(leftIn(full)) > 0 {
				t.Errorf("left behind: %q, %s", leftIn(full), got)
			}
		}
		if failed < 5 {
			t.Errorf("the disk was full only %d times", failed)
		}
	})
}

func noise(size int) string {
	b := make([]byte, size)
	for n := range b {
		b[n] = byte(rand.IntN(256))
	}
	return string(b)
}

// fill leaves free bytes on a disk.
func fill(t *testing.T, disk string, free int64) {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(disk, &st); err != nil {
		t.Fatal(err)
	}
	size := max(0, int64(st.Bavail)*st.Bsize-free)
	if err := os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAReadOnlyRepositoryIsToldAndLeft(t *testing.T) {
	isolate.TestAsRoot(t, func(t *testing.T) {
		r := gittest.New(t)
		clean := gittest.New(t)
		r.Write("a.txt", "later\n")
		for _, dir := range []string{r.Dir, clean.Dir} {
			if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
				isolate.Missing(t, "a bind mount: %v", err)
			}
			defer unix.Unmount(dir, unix.MNT_DETACH)
			if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
				isolate.Missing(t, "a read-only mount: %v", err)
			}
		}
		before := r.Fingerprint()
		if _, err := Snapshot(context.Background(), runnerOf(t, r), requestFor(r)); err == nil || !strings.Contains(err.Error(), "read-only file system") {
			t.Errorf("ended with %v", err)
		}
		if diff := cmp.Diff(before, r.Fingerprint()); diff != "" {
			t.Error(diff)
		}
		snapshot(t, clean, requestFor(clean), Clean)
	})
}

func TestGitGoneBetweenTwoStepsIsAnError(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.txt", "later\n")
	dir := t.TempDir()
	program := filepath.Join(dir, "git")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 127\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	runner, err := git.New([]string{"PATH=" + dir, "HOME=" + home(r)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Snapshot(context.Background(), runner, requestFor(r)); err == nil {
		t.Error("a git that fails was taken for one that works")
	}
	os.Remove(program)
	if _, err := Snapshot(context.Background(), runner, requestFor(r)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ended with %v", err)
	}
	if refs := r.Git("for-each-ref", "refs/rescued"); refs != "" {
		t.Error(refs)
	}
}
