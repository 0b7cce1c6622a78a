package rescue

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentwrap/internal/git"
	"agentwrap/test/gittest"
)

const testID = "claude-20260807T110001Z-482913"

var testNow = time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC)

func runnerOf(t testing.TB, r *gittest.Repo) *git.Runner {
	t.Helper()
	runner, err := git.New(r.Env)
	if err != nil {
		t.Fatal(err)
	}
	return runner
}

func requestFor(r *gittest.Repo) Request {
	return Request{
		LedgerID: testID, CWD: r.Dir, Root: r.Dir, Title: "make it faster", Branch: "main", Host: "e14", Now: testNow,
	}
}

// snapshot takes one, which must end as wanted, and shows that nothing but refs
// and objects was touched.
func snapshot(t testing.TB, r *gittest.Repo, req Request, want Outcome) Result {
	t.Helper()
	before := r.Fingerprint()
	result, err := Snapshot(context.Background(), runnerOf(t, r), req)
	if err != nil {
		t.Fatal(err)
	}
	if result.Outcome != want {
		t.Fatalf("outcome %d, want %d: %+v", result.Outcome, want, result)
	}
	if diff := cmp.Diff(before, r.Fingerprint()); diff != "" {
		t.Errorf("the working tree is not as it was:\n%s", diff)
	}
	return result
}

// work is what git would call this tree's work: mode and bytes of each tracked
// or untracked file that is on the disk.
func work(r *gittest.Repo) map[string]string {
	r.Helper()
	listed := r.Git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
	contents, of := r.Contents(), map[string]string{}
	for _, name := range strings.Split(listed, "\x00") {
		if state, ok := contents[name]; ok {
			of[name] = state
		}
	}
	return of
}

// without gives files but for the notes' paths.
func without(files map[string]string, notes []Note) map[string]string {
	kept := maps.Clone(files)
	for _, n := range notes {
		delete(kept, n.Path)
	}
	return kept
}

// checkedOut gives the files that git puts on the disk for a commit, in a folder
// of its own.
func checkedOut(r *gittest.Repo, commit string) map[string]string {
	r.Helper()
	out := r.At(filepath.Join(r.TempDir(), "out"))
	if err := os.Mkdir(out.Dir, 0o755); err != nil {
		r.Fatal(err)
	}
	gitDir := strings.TrimSpace(r.Git("rev-parse", "--absolute-git-dir"))
	out.Env = append(slices.Clone(r.Env), "GIT_DIR="+gitDir, "GIT_WORK_TREE="+out.Dir, "GIT_INDEX_FILE="+filepath.Join(out.TempDir(), "index"))
	out.Git("-c", "core.sparseCheckout=false", "read-tree", commit)
	out.Git("checkout-index", "-a")
	return out.Contents()
}

// printed runs the restore command as it is printed to people.
func printed(r *gittest.Repo, dir, ref string) error {
	cmd := exec.Command("sh", "-c", RestoreCommand(dir, ref))
	cmd.Env = r.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Logf("%s: %s", RestoreCommand(dir, ref), out)
	}
	return err
}

func paths(notes []Note) []string {
	var names []string
	for _, n := range notes {
		names = append(names, n.Path)
	}
	slices.Sort(names)
	return names
}
