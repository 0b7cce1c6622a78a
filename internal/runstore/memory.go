package runstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
)

// Remember keeps a small value beside a session's files, under a name of its own.
func Remember(s *FileStore, sessionID, name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("remember %s: %w", name, err)
	}
	return s.locked(sessionID, func() error { return statefile.Write(s.path(sessionID, name), raw, statefile.Soon) })
}

// Recall is the value that Remember kept, the zero value where there is none. A
// damaged one counts as none.
func Recall[T any](s *FileStore, sessionID, name string) (v T, err error) {
	if err := validID(sessionID); err != nil {
		return v, err
	}
	raw, err := statefile.Read(s.path(sessionID, name), fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return v, fmt.Errorf("recall %s: %w", name, err)
	}
	if json.Unmarshal(raw, &v) != nil {
		var none T
		return none, nil
	}
	return v, nil
}

// Attended are the sessions that somebody has to look after: those with messages
// or with an idle policy.
func (s *FileStore) Attended() ([]string, error) {
	list, err := os.ReadDir(s.sessions())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the run store: %w", err)
	}
	var ids []string
	for _, d := range list {
		if ledger.ValidID(d.Name()) && (s.has(d.Name(), "messages.jsonl") || s.has(d.Name(), filepath.Base(IdlePolicyPath("", "")))) {
			ids = append(ids, d.Name())
		}
	}
	return ids, nil
}

func (s *FileStore) has(sessionID, name string) bool {
	_, err := os.Lstat(s.path(sessionID, name))
	return err == nil
}
