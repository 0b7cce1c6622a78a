package rescue

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"agentwrap/internal/git"
)

// dropUnchangedLFS drops files whose bytes are those that HEAD's Git LFS
// pointer names. With its filter off git takes such a file for changed whenever
// it cannot tell from the file's times, as right after a checkout.
func (s *survey) dropUnchangedLFS(ctx context.Context, repo *git.Repository, of map[string]attributes) error {
	oids := map[string]bool{}
	for _, i := range s.items {
		if i.isFile() && of[i.path].filter() == "lfs" && (i.headMode == modeFile || i.headMode == modeProgram) {
			oids[i.headOID] = true
		}
	}
	if len(oids) == 0 {
		return nil
	}
	pointers, err := readPointers(ctx, repo, oids)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(repo.Top)
	if err != nil {
		return err
	}
	defer root.Close()
	kept := s.items[:0]
	for _, i := range s.items {
		p, known := pointers[i.headOID]
		if known && i.isFile() && i.mode == i.headMode && p.size == i.content.size && p.sha256 == sha256Of(root, i) {
			continue
		}
		kept = append(kept, i)
	}
	s.items = kept
	return nil
}

// pointer is what a Git LFS pointer file names.
type pointer struct {
	sha256 string
	size   int64
}

// maxPointer is the size in bytes below which git-lfs looks for a pointer.
const maxPointer = 1024

// readPointers gives the pointers among blobs.
func readPointers(ctx context.Context, repo *git.Repository, oids map[string]bool) (map[string]pointer, error) {
	p, err := repo.Start(ctx, git.Command{Args: []string{"cat-file", "--batch"}})
	if err != nil {
		return nil, err
	}
	go func() {
		for oid := range oids {
			fmt.Fprintln(p.Stdin, oid)
		}
		p.Stdin.Close()
	}()
	pointers := map[string]pointer{}
	answers := bufio.NewReader(p.Stdout)
	for range oids {
		line, err := answers.ReadString('\n')
		f := strings.Fields(line)
		if err != nil || len(f) < 2 || f[len(f)-1] == "missing" {
			continue
		}
		size, err := strconv.ParseInt(f[len(f)-1], 10, 64)
		if err != nil {
			p.Kill()
			return nil, fmt.Errorf("git cat-file in %s answered %q", repo.Top, line)
		}
		var head bytes.Buffer
		io.CopyN(&head, answers, min(size, maxPointer))
		io.CopyN(io.Discard, answers, size-min(size, maxPointer)+1)
		if found, ok := parsePointer(head.String()); ok && size < maxPointer {
			pointers[f[0]] = found
		}
	}
	return pointers, p.Wait()
}

// parsePointer reads a pointer file: git-lfs's docs/spec.md, "The Pointer".
func parsePointer(text string) (pointer, bool) {
	var p pointer
	if !strings.HasPrefix(text, "version https://git-lfs.github.com/spec/v1\n") {
		return p, false
	}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "oid":
			p.sha256 = strings.TrimPrefix(value, "sha256:")
		case "size":
			p.size, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	return p, len(p.sha256) == sha256.Size*2
}

// sha256Of is the hash of a file's bytes, "" where they cannot be read.
func sha256Of(root *os.Root, i item) string {
	h := sha256.New()
	if i.content.held != nil {
		h.Write(i.content.held)
		return fmt.Sprintf("%x", h.Sum(nil))
	}
	f, err := openFile(root, i.path, i.seen)
	if err != nil {
		return ""
	}
	defer f.Close()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
