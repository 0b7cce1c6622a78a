package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// RemoveLeftovers removes the temporary files in a folder that writers which
// were killed have left there: those that have not changed since a time, which
// is to lie further back than any write takes. No folder is no files.
func RemoveLeftovers(dir string, before time.Time) (removed int, err error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".tmp") {
			continue
		}
		path := filepath.Join(dir, name)
		st, serr := os.Lstat(path)
		if serr != nil || !st.Mode().IsRegular() || !st.ModTime().Before(before) {
			continue // renamed meanwhile, not ours, or in use
		}
		if rerr := Remove(path); rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		removed++
	}
	return removed, err
}
