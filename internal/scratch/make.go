package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
	"agentwrap/internal/statefile"
)

// sessionFile, in each folder, holds the name of the session it belongs to.
const sessionFile = ".session"

// processFile, in the folder of a session that is named by a process, holds that
// process's key: a pid alone is reused.
const processFile = ".process"

// sessionLimit bounds a session's name, in bytes.
const sessionLimit = 4096

// Make makes the folder of a session under root, mode 0700, and returns its
// path; a folder that is there keeps what it holds. Two sessions whose names
// fall together get different folders, and each gets its own again. Anything
// but a folder of this user's in its place, a symbolic link above all, is an
// error. Many processes may call it at once.
func Make(root, session string) (string, error) {
	if len(session) > sessionLimit {
		return "", fmt.Errorf("make scratch for session %.40q…: its name has %d bytes, at most %d are kept", session, len(session), sessionLimit)
	}
	if err := makeRoot(root); err != nil {
		return "", fmt.Errorf("make scratch root: %w", err)
	}
	dir, second := filepath.Join(root, Name(session)), filepath.Join(root, ownName(session))
	if owner, err := readOwner(filepath.Join(second, sessionFile)); err == nil && owner == strings.TrimSpace(session) {
		// It has had to step aside before; whoever had the name may be gone.
		dir = second
	}
	mine, err := claim(dir, session)
	if err == nil && !mine {
		dir = second
		mine, err = claim(dir, session)
	}
	if err != nil {
		return "", fmt.Errorf("make scratch for session %s: %w", session, err)
	}
	if !mine {
		return "", fmt.Errorf("make scratch for session %s: %s belongs to another session: name one with --session", session, dir)
	}
	return dir, nil
}

// MakeNew is Make for a session whose name nobody had before, as a launch's: it
// gets there in half the steps, and by Make's where it finds the name taken.
func MakeNew(root, session string) (string, error) {
	dir := filepath.Join(root, Name(session))
	if len(session) > sessionLimit || unix.Mkdir(dir, 0o700) != nil || unix.Chmod(dir, 0o700) != nil {
		return Make(root, session)
	}
	if err := statefile.Fresh(filepath.Join(dir, sessionFile), []byte(session)); err != nil {
		return "", fmt.Errorf("make scratch for session %s: %w", session, err)
	}
	return dir, nil
}

// makeRoot makes the root where it is absent. One that is there stays as it is:
// the user may have named a folder that others share.
func makeRoot(root string) error {
	if _, err := os.Stat(root); err == nil {
		return nil
	}
	return statefile.MakeDir(root)
}

// Keep asserts that the folder which an environment or a row names is there,
// this user's and private, and makes it where it is absent.
func Keep(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("keep scratch folder %s: %w", dir, err)
	}
	if err := keepPrivate(dir); err != nil {
		return fmt.Errorf("keep scratch folder: %w", err)
	}
	return nil
}

// claim makes dir, or takes the one that is there, and tells whether it is the
// session's own by what its .session says.
func claim(dir, session string) (mine bool, err error) {
	if err := keepPrivate(dir); err != nil {
		return false, err
	}
	marker := filepath.Join(dir, sessionFile)
	owner, err := readOwner(marker)
	if errors.Is(err, fs.ErrNotExist) {
		if err = statefile.Create(marker, []byte(session), statefile.Lazy); err == nil {
			return true, nil
		}
		if errors.Is(err, fs.ErrExist) {
			owner, err = readOwner(marker)
		}
	}
	return err == nil && owner == strings.TrimSpace(session), err
}

// keepPrivate makes dir where it is absent and asserts its mode, following no
// link and touching nothing of another user's.
func keepPrivate(dir string) error {
	err := unix.Mkdir(dir, 0o700)
	if err != nil && err != unix.EEXIST {
		return &os.PathError{Op: "mkdir", Path: dir, Err: err}
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ENOTDIR || err == unix.ELOOP {
		return fmt.Errorf("%s is not a folder but a link or a file: move it away", dir)
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("folder %s belongs to user %d, not to user %d: move it away", dir, st.Uid, os.Geteuid())
	}
	if err := unix.Fchmod(fd, 0o700); err != nil {
		return &os.PathError{Op: "chmod", Path: dir, Err: err}
	}
	return nil
}

// readOwner reads a .session file; blanks and newlines around the name, as a
// text editor leaves them, do not count.
func readOwner(path string) (string, error) {
	raw, err := statefile.Read(path, sessionLimit+2)
	return strings.TrimSpace(string(raw)), err
}

// SessionOf is the session that a folder belongs to: what its .session says,
// else the folder's name.
func SessionOf(dir string) string {
	if owner, err := readOwner(filepath.Join(dir, sessionFile)); err == nil && owner != "" {
		return owner
	}
	return filepath.Base(dir)
}

// Bind says in a folder which process of which machine its session is: for one
// named NAME:PID.
func Bind(dir string, id process.Identity, host string) error {
	if err := statefile.Write(filepath.Join(dir, processFile), []byte(id.Key()+"\n"+host+"\n"), statefile.Soon); err != nil {
		return fmt.Errorf("name the process of a scratch folder: %w", err)
	}
	return nil
}

// ProcessOf is the process that Bind named, and its machine; ok is false where
// none is, or no whole one.
func ProcessOf(dir string) (id process.Identity, host string, ok bool) {
	raw, err := statefile.Read(filepath.Join(dir, processFile), sessionLimit)
	key, host, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n")
	parts := strings.Split(key, ":")
	if err != nil || len(parts) != 3 {
		return id, "", false
	}
	pid, err := strconv.Atoi(parts[1])
	ticks, terr := strconv.ParseUint(parts[2], 10, 64)
	return process.Identity{BootID: parts[0], PID: pid, StartTicks: ticks}, host, err == nil && terr == nil && parts[0] != ""
}
