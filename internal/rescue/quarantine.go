package rescue

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"agentwrap/internal/git"
	"agentwrap/internal/statefile"
)

// quarantinePrefix is the name, in the object store, of folders that packs are
// built in. git gc takes away old ones of such a name too.
const quarantinePrefix = "tmp_objdir-rescue-"

// staleQuarantine is how old one must be to be a killed snapshot's.
const staleQuarantine = time.Hour

// quarantine is a folder that new packs of a repository are written to. When
// they are whole they are moved into the store; when not, nothing of them is
// left, not on a full disk either.
type quarantine struct{ store, dir string }

func openQuarantine(repo *git.Repository) (*quarantine, error) {
	store := filepath.Join(repo.CommonDir, "objects")
	removeStale(store)
	dir, err := os.MkdirTemp(store, quarantinePrefix)
	if err != nil {
		return nil, fmt.Errorf("the object store of %s: %w", repo.Top, err)
	}
	q := &quarantine{store, dir}
	if err := q.fill(repo); err != nil {
		q.close()
		return nil, err
	}
	return q, nil
}

// fill makes it a git folder too, with the repository's object format and
// permissions and none of its other settings: what git leaves in its git folder
// when it fails stays here.
func (q *quarantine) fill(repo *git.Repository) error {
	for _, sub := range []string{"pack", "info", "refs"} {
		if err := os.Mkdir(filepath.Join(q.dir, sub), 0o700); err != nil {
			return err
		}
	}
	config := "[core]\n\trepositoryFormatVersion = 1\n\tfsync = none\n" // release flushes
	if shared := repo.Setting("core.sharedrepository"); shared != "" {
		config += fmt.Sprintf("\tsharedRepository = %q\n", shared)
	}
	config += "[extensions]\n\tobjectFormat = " + repo.Format + "\n"
	for name, text := range map[string]string{"info/alternates": "..\n", "HEAD": "ref: refs/heads/none\n", "config": config} {
		if err := os.WriteFile(filepath.Join(q.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// close removes what was not released.
func (q *quarantine) close() { _ = os.RemoveAll(q.dir) }

// release moves the packs into the store and flushes them to the disk.
func (q *quarantine) release() error {
	return release(filepath.Join(q.dir, "pack"), filepath.Join(q.store, "pack"))
}

// quarantined has build write new packs and releases them.
func quarantined(repo *git.Repository, build func(dir string) error) error {
	q, err := openQuarantine(repo)
	if err != nil {
		return err
	}
	defer q.close()
	if err := build(q.dir); err != nil {
		return err
	}
	return q.release()
}

// release flushes packs to the disk, all at once, which costs little more than
// one, and moves them into the store, each index last: git looks for that.
func release(from, to string) error {
	packs, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	var flushing errgroup.Group
	for _, pack := range packs {
		flushing.Go(func() error { return statefile.SyncFile(filepath.Join(from, pack.Name())) })
	}
	if err := flushing.Wait(); err != nil {
		return err
	}
	slices.SortFunc(packs, func(a, b os.DirEntry) int {
		return strings.Compare(moveOrder(a.Name()), moveOrder(b.Name()))
	})
	for _, pack := range packs {
		if err := os.Rename(filepath.Join(from, pack.Name()), filepath.Join(to, pack.Name())); err != nil {
			return err
		}
	}
	return statefile.SyncDir(to)
}

func moveOrder(name string) string {
	if strings.HasSuffix(name, ".idx") {
		return "2"
	}
	return "1"
}

func removeStale(store string) {
	names, _ := os.ReadDir(store)
	for _, d := range names {
		info, err := d.Info()
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), quarantinePrefix) && time.Since(info.ModTime()) > staleQuarantine {
			_ = os.RemoveAll(filepath.Join(store, d.Name()))
		}
	}
}
