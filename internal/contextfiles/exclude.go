package contextfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// excludeLine keeps the sessions' folders out of git's sight.
const excludeLine = "/" + sessionsPath + "/"

// excludeLimit bounds what is read of the exclude file, in bytes.
const excludeLimit = 1 << 20

// Exclude adds the sessions' folders to the repository's info/exclude where they
// are not in it yet. Outside of a repository there is nothing to do. A file that
// is a link or another user's is left alone, with an error.
func (s Store) Exclude() error {
	if s.CommonDir == "" {
		return nil
	}
	all, err := s.open(true) // one at a time
	if err != nil {
		return err
	}
	defer all.close()
	if err := exclude(filepath.Join(s.CommonDir, "info", "exclude")); err != nil {
		return fmt.Errorf("keep %s out of git's sight: %w", excludeLine, err)
	}
	return nil
}

func exclude(path string) error {
	if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// As git makes it: readable by those who share the repository.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a file of this user's", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, excludeLimit))
	if err != nil {
		return err
	}
	for line := range bytes.Lines(raw) {
		if string(bytes.TrimRight(line, "\r\n")) == excludeLine {
			return nil
		}
	}
	add := excludeLine + "\n"
	if len(raw) > 0 && raw[len(raw)-1] != '\n' {
		add = "\n" + add
	}
	_, err = f.WriteString(add)
	return errors.Join(err, f.Close())
}
