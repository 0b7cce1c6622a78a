package contextfiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"agentwrap/internal/jsonobject"
	"agentwrap/internal/statefile"
)

// manifestName is the manifest's file in a session's folder; manifestLimit
// bounds it, in bytes.
const (
	manifestName  = ".manifest.json"
	manifestLimit = 16 << 20
)

// ErrDamaged is wrapped by the error for a manifest that is none.
var ErrDamaged = errors.New("damaged manifest")

// Manifest is what a session tracks (docs/scratch.md, "Context files"). Times
// are RFC 3339 in UTC.
type Manifest struct {
	SessionID    string              `json:"session_id"`
	CreatedAt    string              `json:"created_at"`
	LastActivity string              `json:"last_activity"`
	ContextFiles map[string]File     `json:"context_files"`
	ContextIndex map[string][]string `json:"context_index"`
	// LedgerID is the session's id in the ledger, null where it has none.
	LedgerID *string `json:"ledger_id"`

	// others are fields that this version does not know; they are kept.
	others jsonobject.Others
}

// File is one tracked file, by its path below the session's folder.
type File struct {
	Created  string   `json:"created"`
	For      string   `json:"for"`
	Keywords []string `json:"keywords"`
}

// decode reads a manifest and keeps the fields that it does not know.
func (m *Manifest) decode(raw []byte) (err error) {
	m.others, err = jsonobject.Decode(raw, m)
	return err
}

// encode is a manifest as its file holds it.
func (m *Manifest) encode() ([]byte, error) {
	raw, err := jsonobject.Encode(m, m.others)
	if err != nil {
		return nil, fmt.Errorf("encode a manifest: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, fmt.Errorf("encode a manifest: %w", err)
	}
	return append(out.Bytes(), '\n'), nil
}

// activeAt is when the session was last active, or made where that is not said.
func (m *Manifest) activeAt() (time.Time, error) {
	at := m.LastActivity
	if at == "" {
		at = m.CreatedAt
	}
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return time.Time{}, fmt.Errorf("its last_activity %.40q is no time", at)
	}
	return t, nil
}

// Manifest reads the manifest of a session. The error wraps ErrNoSession or
// ErrDamaged.
func (s Store) Manifest(session string) (*Manifest, error) {
	tree, err := os.Open(s.Tree)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	if !isName(session, 255) {
		return nil, fmt.Errorf("%.80q: %w", session, ErrNoSession)
	}
	dir, err := statefile.OpenDir(tree, sessionsPath+"/"+session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", session, ErrNoSession)
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return readManifest(dir, session)
}

// readManifest reads the manifest in a session's opened folder. One that names
// another session is foreign: it was copied, and may track what is not its own.
func readManifest(dir *os.File, session string) (*Manifest, error) {
	raw, err := statefile.Read(statefile.In(dir, manifestName), manifestLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no manifest: %w", dir.Name(), ErrNoSession)
	}
	m := new(Manifest)
	if err == nil {
		err = m.decode(raw)
	}
	if err == nil && m.SessionID != session {
		err = fmt.Errorf("it is of session %.40q", m.SessionID)
	}
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w: %w", dir.Name(), manifestName, ErrDamaged, err)
	}
	return m, nil
}

func (s Store) stamp() string { return s.Now().UTC().Format(time.RFC3339) }

func writeManifest(dir *os.File, m *Manifest) error {
	raw, err := m.encode()
	if err != nil {
		return err
	}
	return statefile.Write(statefile.In(dir, manifestName), raw, statefile.Synced)
}

// newManifest is the manifest of a session that begins.
func (s Store) newManifest(session, ledgerID string) *Manifest {
	m := &Manifest{SessionID: session, CreatedAt: s.stamp(), LastActivity: s.stamp(), ContextFiles: map[string]File{}, ContextIndex: map[string][]string{}}
	if ledgerID != "" {
		m.LedgerID = &ledgerID
	}
	return m
}

// track adds a file, or its new keywords and reader.
func (m *Manifest) track(path string, f File) {
	if old, ok := m.ContextFiles[path]; ok {
		f.Created = old.Created
		if f.For == "" {
			f.For = old.For
		}
		f.Keywords = merge(old.Keywords, f.Keywords)
	}
	if m.ContextFiles == nil {
		m.ContextFiles = map[string]File{}
	}
	m.ContextFiles[path] = f
	if m.ContextIndex == nil {
		m.ContextIndex = map[string][]string{}
	}
	for _, k := range f.Keywords {
		m.ContextIndex[k] = merge(m.ContextIndex[k], []string{path})
	}
}

// untrack forgets a file.
func (m *Manifest) untrack(path string) {
	delete(m.ContextFiles, path)
	for k, paths := range m.ContextIndex {
		paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == path })
		if len(paths) == 0 {
			delete(m.ContextIndex, k)
		} else {
			m.ContextIndex[k] = paths
		}
	}
}

// merge is a and what of b is not in it yet, never nil.
func merge(a, b []string) []string {
	out := append([]string{}, a...)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
