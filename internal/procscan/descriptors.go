package procscan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
)

// Descriptors are the paths that a process's descriptors lead to, as /proc has
// them. The error wraps process.ErrGone for one that has ended.
func Descriptors(pid int) ([]string, error) {
	dir := procPath(pid, "fd")
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return nil, process.ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("descriptors of process %d: %w", pid, err)
	}
	var paths []string
	for _, f := range list {
		// One that was closed meanwhile leads nowhere any more.
		if path, err := os.Readlink(dir + "/" + f.Name()); err == nil {
			paths = append(paths, path)
		}
	}
	return paths, nil
}
