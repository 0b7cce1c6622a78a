package cleanup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
	"agentwrap/internal/scratch"
	"agentwrap/internal/statefile"
)

// begunPrefix begins the name of a folder whose removal has begun: the prefix,
// the inode number, '-', the name it had. No session's folder has such a name:
// leading dots are dropped from those.
const begunPrefix = ".removing-"

func begunName(f Folder) string { return fmt.Sprintf("%s%d-%s", begunPrefix, f.ID.Ino, f.Name) }

// homeName is the name that a folder had before its removal began.
func homeName(name string) (home string, begun bool) {
	rest, ok := strings.CutPrefix(name, begunPrefix)
	if _, home, cut := strings.Cut(rest, "-"); ok && cut {
		return home, true
	}
	return name, false
}

// folders are the scratch folders in root, sorted by name, not looked into yet.
// Links and files are none.
func folders(root *os.File) ([]Folder, error) {
	list, err := root.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("list the scratch folders: %w", err)
	}
	parent, err := statefile.IDOf(root)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var found []Folder
	for _, d := range list {
		home, begun := homeName(d.Name())
		if d.IsDir() && (begun || !strings.HasPrefix(d.Name(), ".")) {
			f := Folder{Name: d.Name(), Path: filepath.Join(root.Name(), d.Name()), Home: Place{parent, home}, Begun: begun}
			f.Err = identify(root, &f)
			found = append(found, f)
		}
	}
	return found, nil
}

// identify sees which folder it is and whose, without walking it.
func identify(root *os.File, f *Folder) error {
	dir, err := statefile.OpenDir(root, f.Name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if f.ID, err = statefile.IDOf(dir); err != nil {
		return err
	}
	if f.Session = scratch.SessionOf(f.Path); f.Session == f.Name {
		f.Session = f.Home.Name
	}
	f.Process = processOf(f.Path, f.Session)
	return nil
}

// survey walks a folder: when it last changed, how much it holds, which inodes.
func survey(root *os.File, f *Folder) {
	if f.Err != nil {
		return
	}
	dir, err := statefile.OpenDir(root, f.Name)
	if err != nil {
		f.Err = err
		return
	}
	defer dir.Close()
	f.Changed, f.Bytes, f.inodes = time.Time{}, 0, nil
	if err := statefile.Walk(dir, func(n statefile.Node) {
		if n.Modified.After(f.Changed) {
			f.Changed = n.Modified
		}
		f.Bytes += n.Bytes
		f.inodes = append(f.inodes, n.ID.Ino)
	}); err != nil {
		f.Err = err
		return
	}
	slices.Sort(f.inodes)
	f.Surveyed = true
}

// reuseAfter is how much younger than the folder a process must be to be proved
// another one than the folder's: both times are by a clock that may be stepped.
const reuseAfter = 24 * time.Hour

// processOf tells whether the process runs that names a folder's session: the
// one that was bound to it, else the one of its name, NAME:PID.
func processOf(dir, session string) Process {
	if id, host, ok := scratch.ProcessOf(dir); ok {
		if here, err := os.Hostname(); err != nil || host != here {
			return ProcessUnknown // a home that machines share
		}
		alive, err := id.Alive()
		return presence(alive, err)
	}
	name, number, ok := strings.Cut(session, ":")
	pid, err := strconv.Atoi(number)
	if !ok || err != nil || pid <= 1 || name != "process" && !runtimes.IsAgent(name) {
		return NoProcess
	}
	st, err := process.ReadStat(pid)
	if errors.Is(err, process.ErrGone) {
		return ProcessGone
	}
	born, ok := birth(dir)
	if err == nil && ok && process.StartTime(st.StartTicks).Sub(born) > reuseAfter {
		return ProcessGone
	}
	return ProcessUnknown
}

func presence(alive bool, err error) Process {
	switch {
	case err != nil:
		return ProcessUnknown
	case alive:
		return ProcessRuns
	}
	return ProcessGone
}

// birth is when a folder came to be, which no one can set; ok is false on file
// systems that do not keep it.
func birth(dir string) (born time.Time, ok bool) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)), err == nil && st.Mask&unix.STATX_BTIME != 0
}
