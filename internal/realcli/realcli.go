// Package realcli finds the real program behind a name on PATH, for the launch
// and for doctor: the first that is not this program itself, what was passed
// over on the way, and why.
package realcli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Passed is a file of the name that was passed over.
type Passed struct{ Path, Why string }

// Found are the programs that a name means on a PATH, in its order, as PATH
// names them: a path is exec'd as found, so that a CLI that looks at its own
// path sees what it would have seen.
type Found struct {
	Candidates []string
	Passed     []Passed
}

// Find looks a name up in a PATH. self is a path to this program
// (/proc/self/exe): the same file, by device and inode, is never a candidate,
// whatever links lead to it.
func Find(name, path, self string) Found {
	var found Found
	var own unix.Stat_t
	ownKnown := unix.Stat(self, &own) == nil
	for dir := range strings.SplitSeq(path, ":") {
		if dir == "" {
			dir = "."
		}
		file := filepath.Join(dir, name)
		if dir == "." {
			file = "./" + name
		}
		switch why := judge(file, own, ownKnown); why {
		case "":
			found.Candidates = append(found.Candidates, file)
		case absent:
		default:
			found.Passed = append(found.Passed, Passed{file, why})
		}
	}
	return found
}

const absent = "absent"

// judge says why a file is no candidate; "" for one that is.
func judge(file string, own unix.Stat_t, ownKnown bool) string {
	var st unix.Stat_t
	err := unix.Stat(file, &st)
	switch {
	case err == unix.ENOENT && isLink(file):
		return "a link to nothing"
	case err == unix.ELOOP:
		return "a link that leads back to itself"
	case err == unix.ENOENT || err == unix.ENOTDIR:
		return absent
	case err != nil:
		return err.Error()
	case ownKnown && st.Dev == own.Dev && st.Ino == own.Ino:
		return "agentwrap itself"
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return "a folder"
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return "not a file"
	case unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS) != nil:
		return "not executable"
	}
	return ""
}

func isLink(file string) bool {
	_, err := os.Readlink(file)
	return err == nil
}

// Explain is one line for a name without a program: what was looked at.
func (f Found) Explain() string {
	if len(f.Passed) == 0 {
		return "no such program on PATH"
	}
	var parts []string
	for _, p := range f.Passed {
		parts = append(parts, fmt.Sprintf("%q is %s", p.Path, p.Why))
	}
	return "no real program on PATH: " + strings.Join(parts, "; ")
}
