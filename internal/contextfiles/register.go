package contextfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentwrap/internal/statefile"
)

// The trees that have context files are written down below the ledger's root,
// so that the sweep finds them without searching the disk.

func register(ledgerRoot string) string { return filepath.Join(ledgerRoot, "contexttrees") }

// Register writes down that the tree has context files.
func (s Store) Register(ledgerRoot string) error {
	sum := sha256.Sum256([]byte(s.Tree))
	path := filepath.Join(register(ledgerRoot), hex.EncodeToString(sum[:8]))
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	for _, dir := range []string{ledgerRoot, register(ledgerRoot)} {
		if err := statefile.MakeDir(dir); err != nil {
			return fmt.Errorf("note the context files of %s: %w", s.Tree, err)
		}
	}
	if err := statefile.Write(path, []byte(s.Tree+"\n"), statefile.Synced); err != nil {
		return fmt.Errorf("note the context files of %s: %w", s.Tree, err)
	}
	return nil
}

// Trees are the trees that were registered and still have a folder for context
// files; the others are forgotten.
func Trees(ledgerRoot string) ([]string, error) {
	list, err := os.ReadDir(register(ledgerRoot))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the trees with context files: %w", err)
	}
	var trees []string
	for _, d := range list {
		path := filepath.Join(register(ledgerRoot), d.Name())
		raw, err := statefile.Read(path, 16<<10)
		tree := strings.TrimSuffix(string(raw), "\n")
		if err != nil || !filepath.IsAbs(tree) {
			continue // one that is being written, or no note of ours
		}
		if _, err := os.Lstat(filepath.Join(tree, sessionsPath)); errors.Is(err, fs.ErrNotExist) {
			if err := statefile.Remove(path); err != nil {
				return trees, err
			}
			continue
		}
		trees = append(trees, tree)
	}
	return trees, nil
}
