package contextfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"agentwrap/internal/statefile"
)

// CleanPlan is what a clean-up of one session would delete, and what it would
// leave.
type CleanPlan struct {
	Session string
	// Dir is the session's folder.
	Dir string
	// Delete are the tracked files, sorted, by their paths below Dir.
	Delete []string
	// Left is what stays in Dir, sorted by path.
	Left []Left

	id statefile.FileID
}

// Left is something that a clean-up leaves, and why.
type Left struct{ Path, Why string }

// PlanClean plans the clean-up of a session. It changes nothing.
func (s Store) PlanClean(session string) (CleanPlan, error) {
	all, err := s.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return CleanPlan{}, fmt.Errorf("%s: %w", session, ErrNoSession)
	}
	if err != nil {
		return CleanPlan{}, err
	}
	defer all.close()
	dir, m, err := openSession(all, session)
	if err != nil {
		return CleanPlan{}, err
	}
	defer dir.Close()
	p := CleanPlan{Session: session, Dir: s.Dir(session)}
	if p.id, err = statefile.IDOf(dir); err != nil {
		return CleanPlan{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(m.ContextFiles)) {
		switch there, err := isFile(dir, name); {
		case err != nil:
			p.Left = append(p.Left, Left{name, err.Error()})
		case there:
			p.Delete = append(p.Delete, name)
		}
	}
	p.Left = append(p.Left, untracked(p.Dir, m)...)
	slices.SortFunc(p.Left, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	return p, nil
}

// isFile tells whether a tracked path is a file in the session's folder. A
// manifest may say anything: what leads out, over a link or onto another mount
// is an error, and so is what is no plain file.
func isFile(dir *os.File, name string) (bool, error) {
	if !filepath.IsLocal(name) || path.Clean(name) != name || name == manifestName || name == "." {
		return false, errors.New("it is not a path of a file in the session's folder")
	}
	parent, err := statefile.OpenDir(dir, path.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer parent.Close()
	var st unix.Stat_t
	err = unix.Fstatat(int(parent.Fd()), path.Base(name), &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == unix.ENOENT:
		return false, nil
	case err != nil:
		return false, err
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return false, errors.New("it is not a file any more")
	}
	return true, nil
}

// untracked are the files in a session's folder that its manifest does not
// track: for people to see, links not followed.
func untracked(dir string, m *Manifest) []Left {
	var left []Left
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		name, rerr := filepath.Rel(dir, file)
		if err != nil || rerr != nil {
			left = append(left, Left{name, "it cannot be looked at"})
			return nil
		}
		if _, tracked := m.ContextFiles[name]; !tracked && !d.IsDir() && name != manifestName {
			left = append(left, Left{name, "it is not tracked"})
		}
		return nil
	})
	return left
}

// Clean carries a plan out: the files that it names and that are still tracked
// go, then the folders that are left empty, then, where nothing is left, the
// session's folder. It fails with statefile.ErrReplaced where that is another
// one now. What it deleted is returned in any case.
func (s Store) Clean(p CleanPlan) (deleted []string, err error) {
	return s.clean(p, func(*Manifest) bool { return true })
}

// clean is Clean where still holds true for the manifest as it is then.
func (s Store) clean(p CleanPlan, still func(*Manifest) bool) (deleted []string, err error) {
	all, err := s.open(false)
	if err != nil {
		return nil, fmt.Errorf("clean context files of %s: %w", p.Session, err)
	}
	defer all.close()
	dir, m, err := openSession(all, p.Session)
	if err != nil {
		return nil, fmt.Errorf("clean context files of %s: %w", p.Session, err)
	}
	defer dir.Close()
	if id, err := statefile.IDOf(dir); err != nil || id != p.id {
		return nil, errors.Join(err, fmt.Errorf("clean context files in %s: %w", p.Dir, statefile.ErrReplaced))
	}
	if !still(m) {
		return nil, nil
	}
	for _, name := range p.Delete {
		gone, rerr := remove(dir, m, name)
		if gone {
			deleted = append(deleted, name)
		}
		if rerr != nil {
			err = errors.Join(err, fmt.Errorf("clean context file %s: %w", name, rerr))
		}
	}
	return deleted, errors.Join(err, s.finish(all, dir, m))
}

// remove deletes one tracked file and the folders above it that it leaves
// empty.
func remove(dir *os.File, m *Manifest, name string) (gone bool, err error) {
	if _, tracked := m.ContextFiles[name]; !tracked {
		return false, errors.New("it is not tracked any more")
	}
	there, err := isFile(dir, name)
	if err != nil || !there {
		return false, err
	}
	parent, err := statefile.OpenDir(dir, path.Dir(name))
	if err != nil {
		return false, err
	}
	defer parent.Close()
	if err := statefile.RemoveFile(parent, path.Base(name)); err != nil {
		return false, err
	}
	m.untrack(name)
	for up := path.Dir(name); up != "."; up = path.Dir(up) {
		if !removedEmpty(dir, up) {
			break
		}
	}
	return true, nil
}

func removedEmpty(dir *os.File, name string) bool {
	above, err := statefile.OpenDir(dir, path.Dir(name))
	if err != nil {
		return false
	}
	defer above.Close()
	return statefile.RemoveEmptyDir(above, path.Base(name)) == nil
}

// finish writes the manifest of what is still tracked, or removes the session's
// folder where nothing but the manifest is left in it.
func (s Store) finish(all *sessions, dir *os.File, m *Manifest) error {
	for name := range m.ContextFiles {
		if there, err := isFile(dir, name); err == nil && !there {
			m.untrack(name)
		}
	}
	for _, category := range Categories {
		_ = statefile.RemoveEmptyDir(dir, category) // one with something in it stays
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	if len(m.ContextFiles) > 0 || len(names) != 1 || names[0] != manifestName {
		return writeManifest(dir, m)
	}
	if err := statefile.RemoveFile(dir, manifestName); err != nil {
		return err
	}
	return statefile.RemoveEmptyDir(all.File, m.SessionID)
}
