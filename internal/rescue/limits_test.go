package rescue

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentwrap/test/gittest"
)

func TestCapsNameWhatTheyLeaveOut(t *testing.T) {
	r := gittest.New(t)
	r.Write("tracked", "x")
	r.Commit("one more")
	r.Write("tracked", strings.Repeat("t", 600))
	r.Write("large", strings.Repeat("l", 1001))
	r.Write("middle", strings.Repeat("m", 900))
	r.Write("small", strings.Repeat("s", 300))
	r.Remove("a.txt")
	req := requestFor(r)
	req.Limits = Limits{File: 1000, Total: 1000}
	result := snapshot(t, r, req, Saved)
	if diff := cmp.Diff([]string{"a.txt", "small", "tracked"}, result.Paths); diff != "" {
		t.Error(diff)
	}
	want := []Note{
		{"middle", "900 B, over what is left of the limit for a snapshot"},
		{"large", "1001 B, over the limit of 1000 B for a file"},
	}
	if diff := cmp.Diff(want, result.Skipped); diff != "" {
		t.Error(diff)
	}
}

// The bytes are never looked at, so it takes no longer for being there:
// BenchmarkLargeFile has the time.
func TestALargeUntrackedFileIsLeftOutByName(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.txt", "later\n")
	sparseFile(t, r, "data.bin", 2<<30)
	result, err := Snapshot(context.Background(), runnerOf(t, r), requestFor(r))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Note{{"data.bin", "2.0 GiB, over the limit of 100 MiB for a file"}}, result.Skipped); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a.txt"}, result.Paths); diff != "" {
		t.Error(diff)
	}
}

func sparseFile(t testing.TB, r *gittest.Repo, name string, size int64) {
	t.Helper()
	r.Write(name, "")
	if err := os.Truncate(r.Path(name), size); err != nil {
		t.Fatal(err)
	}
}

// Larger than what is kept in memory, so read twice, and more files than are
// kept altogether.
func TestFilesOfAllSizesAreSaved(t *testing.T) {
	r := gittest.New(t)
	for n, size := range []int{0, 1, heldFile - 1, heldFile, heldFile + 1, 3*heldFile + 7} {
		r.Write(fmt.Sprintf("f%d", n), strings.Repeat("0123456789abcde\n", size/16+1)[:size])
	}
	for n := range heldTotal/heldFile + 6 {
		r.Write(fmt.Sprintf("many/f%d", n), fmt.Sprint(n)+strings.Repeat("\x00", heldFile-10))
	}
	result := snapshot(t, r, requestFor(r), Saved)
	if diff := cmp.Diff(work(r), checkedOut(r, result.Commit)); diff != "" {
		t.Error(diff)
	}
}

// A file that another process keeps writing to is saved as it was at one moment.
func TestAFileThatNeverRestsIsSavedWhole(t *testing.T) {
	r := gittest.New(t)
	line := strings.Repeat("z", 4095) + "\n"
	r.Write("log", strings.Repeat(line, 2*heldFile/len(line)))
	f, err := os.OpenFile(r.Path("log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				f.WriteString(line)
			}
		}
	}()
	req := requestFor(r)
	req.Limits.File = 1 << 40
	result, err := Snapshot(context.Background(), runnerOf(t, r), req)
	close(stop)
	<-stopped
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Skipped) > 0 { // it may be named instead
		t.Logf("left out: %+v", result.Skipped)
		return
	}
	saved := r.Git("cat-file", "blob", result.Commit+":log")
	if strings.Trim(saved, "z\n") != "" || len(saved)%len(line) != 0 {
		t.Errorf("%d bytes, not whole lines", len(saved))
	}
}

func TestWhatTakesAFilesPlaceIsNotRead(t *testing.T) {
	r := gittest.New(t)
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	seen, err := root.Lstat("a.txt")
	if err != nil {
		t.Fatal(err)
	}
	r.Remove("a.txt")
	r.Symlink("run.sh", "a.txt")
	if c, err := readContent(root, "a.txt", seen, "sha1", 0); err == nil {
		t.Errorf("a link was followed: %+v", c)
	}
	r.Write("one", "one file\n")
	r.Write("other", "another file\n")
	if seen, err = root.Lstat("one"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r.Path("other"), r.Path("one")); err != nil {
		t.Fatal(err)
	}
	if c, err := readContent(root, "one", seen, "sha1", 0); err == nil {
		t.Errorf("another file was read: %+v", c)
	}
}
