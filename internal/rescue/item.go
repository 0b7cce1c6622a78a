package rescue

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// item is one path as the snapshot will hold it.
type item struct {
	path string
	// mode is the git mode, modeNone where the path is deleted.
	mode string
	// oid is the object; it is in the store already where content is nil.
	oid     string
	content *content
	// seen is the file as lstat showed it, nil where there is none to be read.
	seen fs.FileInfo
	// headMode and headOID are what HEAD has there; headMode is "" where that is
	// not known.
	headMode, headOID string
}

// unchanged says that HEAD has the same, as far as is known.
func (i item) unchanged() bool {
	return i.headMode != "" && i.mode == i.headMode && (i.mode == modeNone || i.oid == i.headOID)
}

// survey is what is to be saved, and what cannot be.
type survey struct {
	// head is the commit below the snapshot, "" before the first.
	head         string
	items        []item
	skipped, raw []Note
	// nested are paths of repositories inside the working tree.
	nested []string
}

func (s *survey) skip(path, format string, args ...any) {
	s.skipped = append(s.skipped, Note{path, fmt.Sprintf(format, args...)})
}

// look turns what git status said into items, by a look at each path.
// trustModes is false where git is told that the disk keeps no executable bits.
func (s *survey) look(root *os.Root, changes []change, trustModes bool) {
	untracked := map[string]bool{}
	for _, c := range changes {
		untracked[c.path] = untracked[c.path] || c.kind == '?'
	}
	for _, c := range changes {
		switch {
		case c.kind == 'u':
			s.lookFile(root, c, trustModes)
		case c.headMode == modeGitlink || c.indexMode == modeGitlink || strings.HasSuffix(c.path, "/"):
			s.lookNested(root, c)
		case c.staged == 'D' && c.unstaged == '.':
			s.removedFromIndex(root, c, untracked[c.path])
		case c.unstaged == 'D':
			s.add(c, modeNone, "", nil)
		default:
			s.lookFile(root, c, trustModes)
		}
	}
}

func (s *survey) add(c change, mode, oid string, seen fs.FileInfo) {
	s.items = append(s.items, item{
		path: c.path, mode: mode, oid: oid, seen: seen, headMode: c.headMode, headOID: c.headOID,
	})
}

// removedFromIndex is a path that was taken out of the index. Still on disk it
// is an untracked path, listed as such, or an ignored one.
func (s *survey) removedFromIndex(root *os.Root, c change, untracked bool) {
	if untracked {
		return
	}
	if _, err := root.Lstat(c.path); err == nil {
		s.skip(c.path, "removed from the index and ignored since")
	}
	s.add(c, modeNone, "", nil)
}

func (s *survey) lookFile(root *os.Root, c change, trustModes bool) {
	info, err := root.Lstat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.unstaged == '.':
		s.add(c, c.indexMode, c.indexOID, nil) // a sparse checkout leaves it off the disk
	case errors.Is(err, fs.ErrNotExist):
		s.add(c, modeNone, "", nil)
	case err != nil:
		s.skip(c.path, "%v", cause(err))
	case info.Mode().IsRegular():
		s.add(c, fileMode(c, info, trustModes), "", info)
	case info.Mode()&fs.ModeSymlink != 0:
		s.add(c, modeLink, "", info)
	case info.IsDir() && exists(root, filepath.Join(c.path, ".git")):
		s.addNested(c, c.path)
	case info.IsDir():
		s.add(c, modeNone, "", nil) // the files in it are listed by themselves
	default:
		s.skip(c.path, "%s, which git cannot hold", kindOf(info.Mode()))
	}
}

// lookNested notes a repository in the working tree. What HEAD records of it is
// only changed where git can say which commit it is at.
func (s *survey) lookNested(root *os.Root, c change) {
	path := strings.TrimSuffix(c.path, "/")
	info, err := root.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		s.addNested(c, path)
	case err == nil:
		s.lookFile(root, c, true)
	default:
		s.add(c, modeNone, "", nil)
	}
}

func (s *survey) addNested(c change, path string) {
	c.path = path
	s.nested = append(s.nested, path)
	s.add(c, modeGitlink, "", nil)
}

func exists(root *os.Root, path string) bool {
	_, err := root.Lstat(path)
	return err == nil
}

func fileMode(c change, info fs.FileInfo, trustModes bool) string {
	if !trustModes {
		if c.indexMode == modeProgram {
			return modeProgram
		}
		return modeFile
	}
	if info.Mode()&0o100 != 0 {
		return modeProgram
	}
	return modeFile
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// cap drops what is over the limits, in bytes: files of their own, then, tracked
// paths before untracked and small before large, what no longer fits.
func (s *survey) cap(file, left int64) {
	slices.SortStableFunc(s.items, func(a, b item) int {
		if x, y := a.headMode == modeNone, b.headMode == modeNone; x != y {
			if y {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.size(), b.size())
	})
	kept := s.items[:0]
	for _, i := range s.items {
		size := i.size()
		switch {
		case size > file:
			s.skip(i.path, "%s, over the limit of %s for a file", bytesOf(size), bytesOf(file))
		case size > left:
			s.skip(i.path, "%s, over what is left of the limit for a snapshot", bytesOf(size))
		default:
			left -= size
			kept = append(kept, i)
		}
	}
	s.items = kept
}

func (i item) size() int64 {
	if i.seen == nil {
		return 0
	}
	return i.seen.Size()
}

func bytesOf(n int64) string { return humanize.IBytes(uint64(n)) }

// read reads every file that is to be saved; one that cannot be read is skipped.
// The paths in hold are kept in memory whatever their size.
func (s *survey) read(root *os.Root, format string, hold map[string]bool) {
	held := int64(heldTotal)
	kept := s.items[:0]
	for _, i := range s.items {
		if i.seen != nil {
			most := min(held, heldFile)
			if hold[i.path] {
				most = i.seen.Size()
			}
			c, err := readItem(root, i, format, most)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				i.mode, i.seen = modeNone, nil
			case err != nil:
				s.skip(i.path, "it cannot be read: %v", cause(err))
				continue
			default:
				i.content, i.oid, i.seen = &c, c.oid, c.seen
				held = max(0, held-int64(len(c.held)))
			}
		}
		kept = append(kept, i)
	}
	s.items = kept
}

// readTries is how often a file that is being written to is read again.
const readTries = 5

func readItem(root *os.Root, i item, format string, hold int64) (content, error) {
	if i.mode == modeLink {
		return readLink(root, i, format)
	}
	c, err := readContent(root, i.path, i.seen, format, hold)
	for try := 1; try < readTries && errors.Is(err, errMoving); try++ {
		var seen fs.FileInfo
		if seen, err = root.Lstat(i.path); err == nil {
			c, err = readContent(root, i.path, seen, format, hold)
		}
	}
	return c, err
}

func readLink(root *os.Root, i item, format string) (content, error) {
	target, err := root.Readlink(i.path)
	if err != nil {
		return content{}, err
	}
	h := newHash(format, int64(len(target)))
	h.Write([]byte(target))
	return content{size: int64(len(target)), oid: fmt.Sprintf("%x", h.Sum(nil)), held: []byte(target), seen: i.seen}, nil
}

// dropUnchanged drops what is in HEAD as it is on the disk.
func (s *survey) dropUnchanged() {
	s.items = slices.DeleteFunc(s.items, item.unchanged)
}

// settled says which file was written to after it was read, nil for none.
func (s *survey) settled(root *os.Root) error {
	for _, i := range s.items {
		if i.content == nil || i.seen == nil {
			continue
		}
		if now, err := root.Lstat(i.path); err != nil || !sameState(now, i.seen) {
			return &movingError{i.path}
		}
	}
	return nil
}

// unreadable notes the folders that git status could not look into.
func (s *survey) unreadable(warnings string) {
	for line := range strings.Lines(warnings) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "warning: could not open directory '")
		if at := strings.LastIndex(rest, "': "); ok && at >= 0 {
			s.skip(strings.TrimSuffix(rest[:at], "/"), "it cannot be read: %s", strings.ToLower(rest[at+3:]))
		}
	}
}

// cause is an error without the path, which is told beside it.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
