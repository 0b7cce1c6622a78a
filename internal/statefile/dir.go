package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// MakeDir makes the folder at path with mode 0700, and its parents (0700 too)
// where they are absent. A folder that is there must belong to this user; one
// that others may read or write is closed to them.
func MakeDir(path string) error {
	if err := failing("mkdir", path); err != nil {
		return err
	}
	err := unix.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if parent := filepath.Dir(path); parent != path {
			if err := os.MkdirAll(parent, 0o700); err != nil {
				return err
			}
			err = unix.Mkdir(path, 0o700)
		}
	}
	if err != nil && err != unix.EEXIST {
		return &os.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return ownAndClose(path)
}

// ownAndClose proves that a folder is a folder of this user's with no one else
// let in. It follows no link in the last element.
func ownAndClose(path string) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return linkedDir(path)
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return &os.PathError{Op: "mkdir", Path: path, Err: unix.ENOTDIR}
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("folder %s belongs to user %d, not to user %d: move it away or choose another with AGENT_SESSIONS_DIR", path, st.Uid, os.Geteuid())
	case st.Mode&0o077 != 0 || st.Mode&0o700 != 0o700:
		if err := unix.Chmod(path, 0o700); err != nil {
			return &os.PathError{Op: "chmod", Path: path, Err: err}
		}
	}
	return nil
}

// linkedDir accepts a link to a folder of this user's (people move state to a
// larger disk that way) as long as the link itself is theirs too.
func linkedDir(path string) error {
	var link, st unix.Stat_t
	if err := unix.Lstat(path, &link); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := unix.Stat(path, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	uid := uint32(os.Geteuid())
	if link.Uid != uid || st.Uid != uid || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return fmt.Errorf("%s is a link to something that is not this user's folder: remove it or choose another with AGENT_SESSIONS_DIR", path)
	}
	if st.Mode&0o077 != 0 {
		if err := unix.Chmod(path, 0o700); err != nil {
			return &os.PathError{Op: "chmod", Path: path, Err: err}
		}
	}
	return nil
}
