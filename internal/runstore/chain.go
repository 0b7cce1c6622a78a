package runstore

import (
	"bytes"
	"fmt"
	"strconv"

	"agentwrap/internal/statefile"
)

// CountStop counts the turns' ends that follow each other without a prompt in
// between, and returns how many came before this one: again is false for the
// first. For the one who holds the session's queue (UpdateQueue), which it is
// for.
func (s *FileStore) CountStop(sessionID string, again bool) (before int, err error) {
	path := s.path(sessionID, ".stops")
	if again {
		raw, err := statefile.Read(path, 64)
		if n, nerr := strconv.Atoi(string(bytes.TrimSpace(raw))); err == nil && nerr == nil {
			before = n + 1
		} else {
			before = 1 // at least the one that this one follows
		}
	}
	if err := statefile.Write(path, []byte(strconv.Itoa(before)+"\n"), statefile.Lazy); err != nil {
		return before, fmt.Errorf("count the stops of session %s: %w", sessionID, err)
	}
	return before, nil
}
