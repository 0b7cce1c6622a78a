package rescue

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentwrap/internal/git"
	"agentwrap/internal/statefile"
)

// quarantinePrefix is the name, in the object store, of folders that packs are
// built in. git gc takes away old ones of such a name too.
const quarantinePrefix = "tmp_objdir-rescue-"

// staleQuarantine is how old one must be to be a killed snapshot's.
const staleQuarantine = time.Hour

// quarantined has build write new packs to a folder of its own and, when that
// went well, moves them into the repository's store and flushes them to the
// disk. When it did not, nothing of them is left, not on a full disk either.
func quarantined(repo *git.Repository, build func(objects string) error) error {
	store := filepath.Join(repo.CommonDir, "objects")
	removeStale(store)
	dir, err := os.MkdirTemp(store, quarantinePrefix)
	if err != nil {
		return fmt.Errorf("the object store of %s: %w", repo.Top, err)
	}
	defer os.RemoveAll(dir)
	for _, sub := range []string{"pack", "info"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "info", "alternates"), []byte("..\n"), 0o600); err != nil {
		return err
	}
	if err := build(dir); err != nil {
		return err
	}
	return release(filepath.Join(dir, "pack"), filepath.Join(store, "pack"))
}

// release moves packs into the store, each index last: git looks for that.
func release(from, to string) error {
	packs, err := os.ReadDir(from)
	if err != nil {
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
