package hookadopt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentwrap/internal/statefile"
)

// environment is the hook's own, KEY=VALUE; the first of a key counts, as for
// the C library.
type environment []string

func (e environment) get(name string) string {
	for _, v := range e {
		if key, value, ok := strings.Cut(v, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// logLimit bounds the log, in bytes; the one before it is kept.
const logLimit = 1 << 20

// log notes what went wrong in the ledger's log. Nothing is printed: a CLI
// shows what its hooks print.
func (h *hook) log(err error) {
	if h.store == nil {
		return
	}
	dir := filepath.Join(h.store.Dir(), "log")
	path := filepath.Join(dir, "hook.log")
	line := fmt.Appendf(nil, "%s %s %.64q: %.4096q\n", h.began.UTC().Format(time.RFC3339), h.CLI, h.payload.event, err.Error())
	if errors.Is(statefile.AppendBounded(path, line, logLimit), fs.ErrNotExist) && statefile.MakeDir(dir) == nil {
		_ = statefile.Append(path, line)
	}
}

// isFile tells whether a path names a regular file, not through a link.
func isFile(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular()
}
