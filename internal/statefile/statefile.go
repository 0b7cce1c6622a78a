// Package statefile writes, reads, locks and sets aside the small files below
// the state roots, for every package that keeps state there: it is the only
// code that writes under the ledger root.
//
// Every write is a temporary file in the target's own folder and a rename, so
// that a reader sees the old bytes or the new ones, never a part. Files are
// 0600 and folders 0700. A symbolic link in the place of a file is refused.
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

// Durability says how far a write must have got when Write returns.
type Durability int

const (
	// Lazy leaves the write-back to the kernel, for what can be made again.
	Lazy Durability = iota
	// Soon starts the write-back and returns: the bytes are on disk within the
	// file system's commit interval.
	Soon
	// Synced returns after fsync of the file and of its folder.
	Synced
)

// ErrTooBig is returned by Read for a file larger than its bound.
var ErrTooBig = errors.New("file is larger than expected")

// Write replaces the file at path with data, atomically. On an error the file
// that was there is untouched and no temporary file is left behind.
func Write(path string, data []byte, d Durability) error {
	return write(path, data, d, unix.Renameat2, 0)
}

// Create writes a new file at path, atomically, and fails with an error that
// is fs.ErrExist when there is one already.
func Create(path string, data []byte, d Durability) error {
	return write(path, data, d, unix.Renameat2, unix.RENAME_NOREPLACE)
}

// Fresh writes a new file in its place, without a rename: for a folder that the
// caller has just made, in which nobody reads yet.
func Fresh(path string, data []byte) error {
	if err := failing("open", path); err != nil {
		return err
	}
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	err = fill(fd, path, data, Lazy)
	if cerr := unix.Close(fd); err == nil && cerr != nil {
		err = &os.PathError{Op: "close", Path: path, Err: cerr}
	}
	return err
}

type renamer func(olddir int, oldpath string, newdir int, newpath string, flags uint) error

func write(path string, data []byte, d Durability, rename renamer, flags uint) error {
	tmp, fd, err := openTemp(path)
	if err != nil {
		return err
	}
	err = fill(fd, tmp, data, d)
	if cerr := unix.Close(fd); err == nil && cerr != nil {
		err = &os.PathError{Op: "close", Path: tmp, Err: cerr}
	}
	if err == nil {
		err = renameInto(rename, tmp, path, flags)
	}
	if err != nil {
		_ = unix.Unlink(tmp)
		return err
	}
	if d == Synced {
		return SyncDir(filepath.Dir(path))
	}
	return nil
}

// openTemp makes the temporary file beside path. Its name begins with a dot
// and ends in .tmp, so that no listing takes it for an entry.
func openTemp(path string) (string, int, error) {
	dir, base := filepath.Split(path)
	for try := range 100 {
		name := dir + "." + base + "." + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano()+int64(try), 36) + ".tmp"
		if err := failing("open", name); err != nil {
			return "", -1, err
		}
		fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err == unix.EEXIST || err == unix.EINTR {
			continue
		}
		if err != nil {
			return "", -1, &os.PathError{Op: "open", Path: name, Err: err}
		}
		return name, fd, nil
	}
	return "", -1, fmt.Errorf("open a temporary file beside %s: no free name after 100 tries", path)
}

func fill(fd int, name string, data []byte, d Durability) error {
	// The mode given to open is cut by the umask of whoever typed the command.
	if err := unix.Fchmod(fd, 0o600); err != nil {
		return &os.PathError{Op: "chmod", Path: name, Err: err}
	}
	for rest := data; len(rest) > 0; {
		if err := failing("write", name); err != nil {
			return err
		}
		n, err := unix.Write(fd, rest)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "write", Path: name, Err: err}
		}
		rest = rest[n:]
	}
	switch d {
	case Synced:
		return fsync(fd, name)
	case Soon:
		// A hint only: file systems without it lose nothing but time.
		_ = unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	}
	return nil
}

func renameInto(rename renamer, tmp, path string, flags uint) error {
	if err := failing("rename", path); err != nil {
		return err
	}
	err := rename(unix.AT_FDCWD, tmp, unix.AT_FDCWD, path, flags)
	if flags == unix.RENAME_NOREPLACE && (err == unix.EINVAL || err == unix.ENOSYS) {
		// A file system without RENAME_NOREPLACE (some network ones): a hard
		// link is as exclusive; the temporary name goes after it.
		if err = unix.Link(tmp, path); err == nil {
			_ = unix.Unlink(tmp)
		}
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: tmp, New: path, Err: err}
	}
	return nil
}

// SyncFile makes the bytes of the file at path durable; the sweep calls it for
// entries that a launch wrote with Soon.
func SyncFile(path string) error { return openAndSync(path, unix.O_RDONLY) }

// SyncDir makes the names in a folder durable; one that MakeDir accepts behind
// a link of the user's too, hence the dot.
func SyncDir(path string) error { return openAndSync(path+"/.", unix.O_RDONLY|unix.O_DIRECTORY) }

func openAndSync(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return fsync(fd, path)
}

func fsync(fd int, path string) error {
	if err := failing("fsync", path); err != nil {
		return err
	}
	for {
		err := unix.Fsync(fd)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "fsync", Path: path, Err: err}
		}
		return nil
	}
}

// Read returns the bytes of a regular file of at most limit bytes. A link, a
// FIFO or a device in its place is an error and is never waited for.
func Read(path string, limit int) ([]byte, error) {
	return ReadInto(nil, path, limit)
}

// ReadInto is Read into buf's storage where it is large enough: for whoever
// reads ten thousand files. The result is only valid until the next call.
func ReadInto(buf []byte, path string, limit int) ([]byte, error) {
	if err := failing("open", path); err != nil {
		return nil, err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	buf = buf[:0]
	if cap(buf) == 0 {
		buf = make([]byte, 0, 4096)
	}
	for {
		n, err := unix.Read(fd, buf[len(buf):cap(buf)])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return buf, notRegular(fd, path, len(buf))
		}
		buf = buf[:len(buf)+n]
		if len(buf) > limit {
			return nil, &os.PathError{Op: "read", Path: path, Err: ErrTooBig}
		}
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, len(buf))...)[:len(buf)]
		}
	}
}

// notRegular finds out, for a file that gave nothing, whether it is one at
// all: an empty read is also what a FIFO without a writer gives.
func notRegular(fd int, path string, read int) error {
	if read > 0 {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return &os.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	return nil
}

// Append adds data to the file at path in one write, making it where it is
// absent: for logs, where a torn last line costs one line.
func Append(path string, data []byte) error {
	if err := failing("open", path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	if err = failing("write", path); err == nil {
		var n int
		if n, err = f.Write(data); err == nil && n < len(data) {
			err = io.ErrShortWrite
		}
	}
	return errors.Join(err, f.Close())
}

// AppendBounded is Append for a log that is not to grow beyond limit, in bytes:
// a full one becomes path.1, in the place of the one before it.
func AppendBounded(path string, data []byte, limit int64) error {
	if st, err := os.Lstat(path); err == nil && st.Size() > limit {
		if err := renameInto(unix.Renameat2, path, path+".1", 0); err != nil {
			return err
		}
	}
	return Append(path, data)
}

// Remove deletes the file at path; one that is not there is no error.
func Remove(path string) error {
	if err := failing("unlink", path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// SetAside moves a damaged file into the folder dir and returns its new path.
// Nothing is overwritten: the name gets the time and, if taken, a number.
func SetAside(path, dir string, now time.Time) (string, error) {
	if err := MakeDir(dir); err != nil {
		return "", err
	}
	stem := filepath.Join(dir, filepath.Base(path)+"."+now.UTC().Format("20060102T150405Z"))
	for n := range 1000 {
		to := stem
		if n > 0 {
			to += "-" + strconv.Itoa(n)
		}
		err := renameInto(unix.Renameat2, path, to, unix.RENAME_NOREPLACE)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		return to, err
	}
	return "", fmt.Errorf("set aside %s: no free name in %s", path, dir)
}
