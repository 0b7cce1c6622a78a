package statefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// FileID is one file or folder of this boot, whatever name it has now.
type FileID struct{ Dev, Ino uint64 }

// ErrMount is wrapped by the error for a folder on which, or below which,
// something is mounted.
var ErrMount = errors.New("something is mounted there")

var errLink = errors.New("a symbolic link stands there")

// ErrReplaced is wrapped by the error for a folder that is not the one that was
// looked at before.
var ErrReplaced = errors.New("it is not the folder that was looked at")

// beneath is how every step of a walk is resolved: never above where it began,
// through no link of any kind, onto no other mount, be it of the same device.
const beneath = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// OpenDir opens the folder at path below parent, which stays pinned by its
// descriptor whatever happens to its name. A link or a mount on the way is an
// error (ErrMount for the latter). It needs Linux 5.6.
func OpenDir(parent *os.File, path string) (*os.File, error) {
	fd, err := openBeneath(parent, path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Join(parent.Name(), path)), nil
}

func openBeneath(parent *os.File, path string, flags uint64) (int, error) {
	if !filepath.IsLocal(path) {
		return -1, fmt.Errorf("open %q below %s: it leads out of that folder", path, parent.Name())
	}
	how := unix.OpenHow{Flags: flags | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: beneath}
	for {
		fd, err := unix.Openat2(int(parent.Fd()), path, &how)
		switch err {
		case nil:
			return fd, nil
		case unix.EINTR, unix.EAGAIN:
			continue
		case unix.EXDEV:
			err = ErrMount
		case unix.ELOOP:
			err = errLink
		}
		return -1, &os.PathError{Op: "open", Path: filepath.Join(parent.Name(), path), Err: err}
	}
}

// MakeDirAt makes the folder name (one element, mode 0700) in parent where it
// is absent, and opens it as OpenDir does.
func MakeDirAt(parent *os.File, name string) (*os.File, error) {
	if err := unix.Mkdirat(int(parent.Fd()), name, 0o700); err != nil && err != unix.EEXIST {
		return nil, &os.PathError{Op: "mkdir", Path: filepath.Join(parent.Name(), name), Err: err}
	}
	return OpenDir(parent, name)
}

// In is a path of name in an open folder that holds even when the folder has
// been renamed: for Write, Create, Read and SyncDir.
func In(dir *os.File, name string) string {
	return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + name
}

// IDOf is the identity of an open file or folder.
func IDOf(f *os.File) (FileID, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return FileID{}, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return FileID{st.Dev, st.Ino}, nil
}

// Node is one file or folder that a walk came by.
type Node struct {
	ID       FileID
	Modified time.Time
	Bytes    uint64 // on disk
	Dir      bool
}

// Walk calls f for dir itself and for all that is below it, in no order, links
// not followed. It fails with ErrMount when it meets another mount; it goes on
// after an error and returns the first.
func Walk(dir *os.File, f func(Node)) error {
	st, err := statAt(dir, "")
	if err != nil {
		return err
	}
	f(nodeOf(st))
	return eachName(dir, func(name string) error {
		st, err := statAt(dir, name)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
			return &os.PathError{Op: "walk", Path: filepath.Join(dir.Name(), name), Err: ErrMount}
		}
		if !isDir(st) {
			f(nodeOf(st))
			return nil
		}
		sub, err := OpenDir(dir, name)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer sub.Close()
		return Walk(sub, f)
	})
}

// statAt looks at name in dir, "" for dir itself.
func statAt(dir *os.File, name string) (*unix.Statx_t, error) {
	var st unix.Statx_t
	const flags = unix.AT_EMPTY_PATH | unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT | unix.AT_STATX_DONT_SYNC
	if err := unix.Statx(int(dir.Fd()), name, flags, unix.STATX_BASIC_STATS, &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: filepath.Join(dir.Name(), name), Err: err}
	}
	return &st, nil
}

func isDir(st *unix.Statx_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFDIR }

func nodeOf(st *unix.Statx_t) Node {
	return Node{
		ID:       FileID{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino},
		Modified: time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)),
		Bytes:    st.Blocks * 512,
		Dir:      isDir(st),
	}
}

// eachName calls f for the names in a folder, in batches, so that one of any
// size is walked in little memory, and returns the first error.
func eachName(dir *os.File, f func(name string) error) error {
	var first error
	for {
		names, err := dir.Readdirnames(1024)
		for _, name := range names {
			if err := f(name); first == nil {
				first = err
			}
		}
		if errors.Is(err, io.EOF) {
			return first
		}
		if err != nil {
			return errors.Join(first, err)
		}
	}
}

// RemoveTree deletes the folder name in parent with all that is in it, if it is
// still the folder want (else ErrReplaced). Links are deleted, never followed;
// where something is mounted nothing of that mount is touched (ErrMount). It
// goes on after an error and returns the first.
func RemoveTree(parent *os.File, name string, want FileID) error {
	dir, err := OpenDir(parent, name)
	if err != nil {
		return err
	}
	defer dir.Close()
	id, err := IDOf(dir)
	if err != nil {
		return err
	}
	if id != want {
		return fmt.Errorf("remove %s: %w", dir.Name(), ErrReplaced)
	}
	return removeDir(parent, name, dir)
}

// emptyings bounds how often a folder is read again that has names left after
// it was emptied: file systems may pass over some while others are deleted.
const emptyings = 3

func removeDir(parent *os.File, name string, dir *os.File) error {
	for range emptyings {
		if err := eachName(dir, func(name string) error { return removeName(dir, name) }); err != nil {
			return err
		}
		err := RemoveEmptyDir(parent, name)
		if !errors.Is(err, unix.ENOTEMPTY) {
			return err
		}
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	return &os.PathError{Op: "rmdir", Path: dir.Name(), Err: unix.ENOTEMPTY}
}

func removeName(dir *os.File, name string) error {
	err := RemoveFile(dir, name)
	if !errors.Is(err, unix.EISDIR) {
		return err
	}
	sub, err := openForRemoval(dir, name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer sub.Close()
	return removeDir(dir, name, sub)
}

// openForRemoval opens a folder after giving its owner the right to change it,
// which caches take from theirs.
func openForRemoval(parent *os.File, name string) (*os.File, error) {
	fd, err := openBeneath(parent, name, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	pinned := os.NewFile(uintptr(fd), filepath.Join(parent.Name(), name))
	defer pinned.Close()
	st, err := statAt(pinned, "")
	if err != nil {
		return nil, err
	}
	if st.Mode&0o700 != 0o700 {
		if err := os.Chmod("/proc/self/fd/"+strconv.Itoa(int(pinned.Fd())), 0o700); err != nil {
			return nil, err
		}
	}
	return OpenDir(pinned, ".")
}

// RemoveEmptyDir deletes the folder name in parent if it is empty (else the
// error is ENOTEMPTY); one that is not there is no error.
func RemoveEmptyDir(parent *os.File, name string) error {
	return unlinkAt(parent, name, unix.AT_REMOVEDIR)
}

// RemoveFile deletes name in dir, a link itself where it is one; one that is not
// there is no error, a folder is (EISDIR).
func RemoveFile(dir *os.File, name string) error { return unlinkAt(dir, name, 0) }

func unlinkAt(dir *os.File, name string, flags int) error {
	path := filepath.Join(dir.Name(), name)
	if err := failing("unlink", path); err != nil {
		return err
	}
	err := unix.Unlinkat(int(dir.Fd()), name, flags)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	return &os.PathError{Op: "unlink", Path: path, Err: err}
}
