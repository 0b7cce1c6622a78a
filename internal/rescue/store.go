package rescue

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"agentwrap/internal/git"
)

// importConfig has fast-import write one pack, which it flushes to the disk,
// and tell apart names that differ in case.
var importConfig = []string{"fastimport.unpackLimit=0", "core.ignoreCase=false"}

// scratchRef is the name under which fast-import builds the commit. It is gone
// from the stream again before the end, so no such ref is ever written.
const scratchRef = "refs/rescued-scratch"

// commit is what a snapshot's commit is made of.
type commit struct {
	parent string // "" for none
	// tree asks for a parent of its own with just this tree and no history, so
	// that the snapshot of a nested repository is complete in another's store.
	tree    string
	message string
	when    int64 // Unix seconds
	items   []item
}

// importer is a git fast-import in a quarantine.
type importer struct {
	repo       *git.Repository
	quarantine *quarantine
	process    *git.Process
}

func startImporter(ctx context.Context, repo *git.Repository) (*importer, error) {
	q, err := openQuarantine(repo)
	if err != nil {
		return nil, err
	}
	p, err := repo.Start(ctx, git.Command{
		NoIndex: true, GitDir: q.dir, Args: []string{"fast-import", "--quiet", "--done"}, Config: importConfig,
	})
	if err != nil {
		q.close()
		return nil, err
	}
	return &importer{repo, q, p}, nil
}

// close ends it; what it did not finish is gone.
func (m *importer) close() {
	m.process.Kill()
	m.quarantine.close()
}

// write stores the objects of c and gives the commit. No index is involved: the
// tree is the parent's with the items put in. A *movingError says that a file
// changed since it was read.
func (m *importer) write(c commit) (string, error) {
	out := bufio.NewWriterSize(m.process.Stdin, 64<<10)
	if err := c.stream(out, m.repo); err != nil && !errors.Is(err, errPipe) {
		return "", err
	}
	flushed := out.Flush()
	m.process.Stdin.Close()
	answer, _ := io.ReadAll(io.LimitReader(m.process.Stdout, 256))
	if err := m.process.Wait(); err != nil {
		return "", err
	}
	if flushed != nil || len(answer) == 0 {
		return "", fmt.Errorf("git fast-import in %s ended early: %w", m.repo.Top, flushed)
	}
	return strings.TrimSpace(string(answer)), m.quarantine.release()
}

// errPipe is that git reads no further; it says itself why.
var errPipe = errors.New("git reads no further")

const identity = "agent-sessions <agent-sessions@localhost>"

// stream writes c in the form of git-fast-import(1).
func (c commit) stream(w *bufio.Writer, repo *git.Repository) error {
	root, err := os.OpenRoot(repo.Top)
	if err != nil {
		return err
	}
	defer root.Close()
	fmt.Fprintln(w, "feature done")
	from := c.parent
	if c.tree != "" {
		c.header(w, 2, baseMessage, "")
		fmt.Fprintf(w, "M 040000 %s \"\"\n", c.tree)
		from = ":2"
	}
	c.header(w, 1, c.message, from)
	for _, i := range c.items {
		if i.mode == modeNone {
			fmt.Fprintf(w, "D %s\n", quote(i.path))
		}
	}
	for _, i := range c.items {
		if i.mode == modeNone {
			continue
		}
		if err := i.stream(w, root, repo.Format); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "get-mark :1\nreset %s\nfrom %s\n\ndone\n", scratchRef, strings.Repeat("0", hexLen(repo.Format)))
	if err != nil {
		return errPipe
	}
	return nil
}

// baseMessage is that of the commit that stands for a nested repository's HEAD.
const baseMessage = "the files of the nested repository's own commit\n"

func (c commit) header(w *bufio.Writer, mark int, message, from string) {
	fmt.Fprintf(w, "commit %s\nmark :%d\nauthor %s %d +0000\ncommitter %s %d +0000\ndata %d\n%s\n",
		scratchRef, mark, identity, c.when, identity, c.when, len(message), message)
	if from != "" {
		fmt.Fprintf(w, "from %s\n", from)
	}
}

func (i item) stream(w *bufio.Writer, root *os.Root, format string) error {
	if i.content == nil {
		fmt.Fprintf(w, "M %s %s %s\n", i.mode, i.oid, quote(i.path))
		return nil
	}
	fmt.Fprintf(w, "M %s inline %s\ndata %d\n", i.mode, quote(i.path), i.content.size)
	if i.content.held == nil {
		if err := i.streamFile(w, root, format); err != nil {
			return err
		}
	} else {
		w.Write(i.content.held)
	}
	if err := w.WriteByte('\n'); err != nil {
		return errPipe
	}
	return nil
}

// streamFile reads a large file a second time and makes sure that it is the
// same as the first time.
func (i item) streamFile(w *bufio.Writer, root *os.Root, format string) error {
	f, err := openFile(root, i.path, i.seen)
	if err != nil {
		return &movingError{i.path}
	}
	defer f.Close()
	h := newHash(format, i.content.size)
	n, err := io.Copy(io.MultiWriter(h, w), io.LimitReader(f, i.content.size))
	var read *os.PathError
	switch {
	case errors.As(err, &read) && read.Path == f.Name():
		return err
	case err != nil:
		return errPipe
	case n != i.content.size || fmt.Sprintf("%x", h.Sum(nil)) != i.content.oid:
		return &movingError{i.path}
	}
	return nil
}

// quote writes a path as git reads it back on a line of its own, whatever bytes
// it is made of.
func quote(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(path) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func hexLen(format string) int {
	if format == "sha256" {
		return 64
	}
	return 40
}

// planned is what a tree must have at the items' paths.
func planned(items []item) map[string]entry {
	want := make(map[string]entry, len(items))
	for _, i := range items {
		want[i.path] = i.entry()
	}
	return want
}

func (i item) entry() entry {
	if i.mode == modeNone {
		return entry{modeNone, ""}
	}
	return entry{i.mode, i.oid}
}

// verify reads the commit back from the object store and compares it with what
// was read from the disk. It gives the paths that the commit changes.
func verify(ctx context.Context, repo *git.Repository, d *differ, items []item, oid string) ([]string, error) {
	found, order, err := d.changes(oid)
	if err != nil {
		return nil, err
	}
	want := planned(items)
	for path, has := range found {
		if want[path] != has {
			return nil, fmt.Errorf("the snapshot %s of %s has %v at %q, the disk has %v", oid, repo.Top, has, path, want[path])
		}
		delete(want, path)
	}
	for _, path := range slices.Sorted(maps.Keys(want)) { // unchanged from the parent after all
		out, err := repo.Run(ctx, git.Command{NoIndex: true, Args: []string{"--literal-pathspecs", "ls-tree", "-z", oid, "--", path}})
		if err != nil {
			return nil, err
		}
		if has := treeEntry(string(out)); has != want[path] {
			return nil, fmt.Errorf("the snapshot %s of %s has %v at %q, the disk has %v", oid, repo.Top, has, path, want[path])
		}
	}
	return order, nil
}

func treeEntry(line string) entry {
	f := strings.Fields(line)
	if len(f) < 3 {
		return entry{modeNone, ""}
	}
	return entry{f[0], f[2]}
}
