package rescue

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentwrap/test/gittest"
)

func TestEachShapeIsSavedWhole(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			r := gittest.New(t)
			s.make(r)
			had := work(r)
			all := r.Contents()
			for _, path := range s.kept {
				had[path] = all[path]
			}
			result := snapshot(t, r, requestFor(r), Saved)
			if diff := cmp.Diff(s.skipped, paths(result.Skipped)); diff != "" {
				t.Errorf("skipped: %s%+v", diff, result.Skipped)
			}
			if diff := cmp.Diff(s.raw, paths(result.Raw)); diff != "" {
				t.Errorf("raw: %s%+v", diff, result.Raw)
			}
			r.Git("fsck", "--strict", "--no-dangling")
			holdsTheDisk(t, r, result, had)
			if !s.noReset {
				givenBack3(t, r, result, had)
			}
		})
	}
}

// holdsTheDisk compares the snapshot with the disk: what it changes byte by byte,
// and that it changes all that git's own status lists.
func holdsTheDisk(t *testing.T, r *gittest.Repo, result Result, had map[string]string) {
	t.Helper()
	raw := map[string]bool{}
	for _, n := range result.Raw {
		raw[n.Path] = true
		if got, _ := os.ReadFile(r.Path(n.Path)); r.Git("cat-file", "blob", result.Commit+":"+n.Path) != string(got) {
			t.Errorf("%s is not saved as it is", n.Path)
		}
	}
	saved, changed := checkedOut(r, result.Commit), map[string]bool{}
	for _, path := range result.Paths {
		changed[path] = true
		if !raw[path] && saved[path] != had[path] {
			t.Errorf("%q: saved %q, on the disk %q", path, saved[path], had[path])
		}
	}
	for _, n := range result.Skipped {
		changed[n.Path] = true
	}
	same := r.Git("ls-tree", "-r", "-z", "--name-only", result.Commit)
	for _, path := range strings.Split(strings.TrimSuffix(same, "\x00"), "\x00") {
		if changed[path] {
			continue
		}
		if _, err := r.Try("diff", "--quiet", result.Commit, "--", ":(literal)"+path); err != nil {
			t.Errorf("%q differs from the disk: %v", path, err)
		}
	}
	for path := range had {
		if _, ok := saved[path]; !ok && !changed[path] {
			t.Errorf("%q is on the disk and not in the snapshot", path)
		}
	}
}

// givenBack3 has the work given back by the printed command: after a clean-up,
// on a moved HEAD, and from a removed worktree's ref in the main checkout.
func givenBack3(t *testing.T, r *gittest.Repo, result Result, had map[string]string) {
	t.Helper()
	for _, moved := range []bool{false, true} {
		r.Try("rebase", "--abort")
		r.Git("reset", "-q", "--hard", result.Commit+"^")
		r.Git("clean", "-qfdx")
		want := without(had, result.Skipped)
		if moved {
			r.Write("of another", "x\n")
			r.Git("add", "of another")
			r.Git("commit", "-q", "-m", "another")
			want["of another"] = r.Contents()["of another"]
		}
		if err := printed(r, r.Dir, result.Ref); err != nil {
			t.Errorf("moved %v: %v", moved, err)
			continue
		}
		if diff := cmp.Diff(want, without(r.Contents(), result.Skipped)); diff != "" {
			t.Errorf("moved %v: not what was there:\n%s", moved, diff)
		}
	}
}

func TestThePrintedCommandIsQuoted(t *testing.T) {
	got := RestoreCommand("/home/a b/it's", "refs/rescued/x")
	out, err := exec.Command("sh", "-c", "printf '%s|' "+strings.TrimPrefix(got, "git ")).Output()
	if err != nil || string(out) != "-C|/home/a b/it's|cherry-pick|-n|refs/rescued/x|" {
		t.Errorf("%s is read as %q, %v", got, out, err)
	}
}
