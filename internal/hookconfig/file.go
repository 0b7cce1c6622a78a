package hookconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"agentwrap/internal/statefile"
)

// backupSuffix is added to the name of a settings file for what it was before.
const backupSuffix = ".before-agent-sessions"

// settingsLimit bounds a settings file, in bytes.
const settingsLimit = 16 << 20

// lockWait is how long another installation is waited for.
const lockWait = 10 * time.Second

// file is a settings file: named as the CLI names it, at path where links lead.
type file struct{ named, path string }

// openFile follows links: settings are often kept in a repository of dotfiles.
func openFile(named string) (file, error) {
	path, err := filepath.EvalSymlinks(named)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(named); lerr == nil {
			return file{}, fmt.Errorf("%s is a link to a file that is not there: make that file or remove the link", named)
		}
		return file{named, named}, nil
	}
	if err != nil {
		return file{}, fmt.Errorf("find %s: %w", named, err)
	}
	return file{named, path}, nil
}

// read is what the file holds, nil where there is none.
func (f file) read() ([]byte, error) { return readWhole(f.path) }

func readWhole(path string) ([]byte, error) {
	raw, err := statefile.Read(path, settingsLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}

// beforeInstall is what the file was before the last change. ok is false where
// that is not known.
func (f file) beforeInstall() (raw []byte, ok bool) {
	raw, err := readWhole(f.path + backupSuffix)
	return raw, err == nil
}

// refuse is the error for settings that cannot be edited.
func (f file) refuse(err error) error { return fmt.Errorf("%s is left as it is: %w", f.named, err) }

// edition is what a file is to hold, nil for it to be gone, and what becomes of
// the backup beside it.
type edition struct {
	after  []byte
	backup backup
}

type backup int

const (
	takeBackup backup = iota // of what the file holds now
	keepBackup               // the one that is there
	dropBackup
)

// edit replaces the file's content by what change makes of it and returns it.
// The CLI itself may write the file at any time: what came between is not lost,
// the change is then made anew.
func (f file) edit(change func([]byte) (edition, error)) (after []byte, changed bool, err error) {
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, err
	}
	unlock, err := lock(dir)
	if err != nil {
		return nil, false, fmt.Errorf("edit %s: %w", f.named, err)
	}
	defer unlock()
	for range 10 {
		raw, err := f.read()
		if err != nil {
			return nil, false, err
		}
		ed, err := change(raw)
		if err != nil {
			return nil, false, f.refuse(err)
		}
		if bytes.Equal(raw, ed.after) {
			return raw, false, nil
		}
		if err = f.replace(raw, ed); err == nil {
			return ed.after, true, nil
		}
		if !errors.Is(err, errChanged) {
			return nil, false, fmt.Errorf("edit %s: %w", f.named, err)
		}
	}
	return nil, false, fmt.Errorf("edit %s: it keeps changing: try again", f.named)
}

// lock keeps other installations away by a lock on the folder itself, which
// leaves nothing behind.
func lock(dir string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	l := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	if _, err := l.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, fmt.Errorf("wait for another installation: %w", err)
	}
	return func() { _ = l.Unlock() }, nil
}

// errChanged is returned for a file that someone else changed meanwhile.
var errChanged = errors.New("changed by someone else")

// replace puts an edition in the place of what the file held.
func (f file) replace(before []byte, ed edition) error {
	if ed.backup == takeBackup && before != nil {
		if err := write(f.path+backupSuffix, before, f.mode(), func() error { return nil }); err != nil {
			return err
		}
	}
	unchanged := func() error {
		if now, err := f.read(); err != nil || !bytes.Equal(now, before) {
			return errors.Join(errChanged, err)
		}
		return nil
	}
	var err error
	if ed.after != nil {
		err = write(f.path, ed.after, f.mode(), unchanged)
	} else if err = unchanged(); err == nil {
		err = os.Remove(f.path)
	}
	if err != nil {
		return err
	}
	if ed.backup == dropBackup || before == nil {
		return statefile.Remove(f.path + backupSuffix)
	}
	return nil
}

// mode is the file's, or that of a new one.
func (f file) mode() fs.FileMode {
	st, err := os.Stat(f.path)
	if err != nil {
		return 0o600
	}
	return st.Mode().Perm()
}

// write replaces a file, unless still says at the last moment that it must not.
func write(path string, data []byte, mode fs.FileMode, still func() error) error {
	pending, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(mode))
	if err != nil {
		return err
	}
	defer pending.Cleanup()
	if _, err := pending.Write(data); err != nil {
		return err
	}
	if err := still(); err != nil {
		return err
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return statefile.SyncDir(filepath.Dir(path))
}
