package rescue

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"agentwrap/internal/git"
)

// entry is what a tree has at a path; a path that is gone has modeNone and no
// object.
type entry struct{ mode, oid string }

// differ reads commits back from the object store, with one git that is there
// before the first question.
type differ struct {
	dir     string
	process *git.Process
	answers *bufio.Reader
}

// starter starts git: a runner, or an opened repository.
type starter interface {
	Start(context.Context, git.Command) (*git.Process, error)
}

// startDiffer starts one for the repository that dir is in.
func startDiffer(ctx context.Context, s starter, dir string) (*differ, error) {
	p, err := s.Start(ctx, git.Command{Dir: dir, NoIndex: true, Args: []string{
		"diff-tree", "--stdin", "--root", "-r", "-z", "--no-renames", "--no-commit-id",
	}})
	if err != nil {
		return nil, err
	}
	return &differ{dir, p, bufio.NewReader(p.Stdout)}, nil
}

func (d *differ) close() { d.process.Kill() }

// endOfAnswer is no object's name, so git echoes it after what came before.
const endOfAnswer = "end\n"

// changes gives the paths at which a commit differs from its parent, with what
// it has there, and their order.
func (d *differ) changes(commit string) (map[string]entry, []string, error) {
	if _, err := fmt.Fprintf(d.process.Stdin, "%s\n%s", commit, endOfAnswer); err != nil {
		return nil, nil, fmt.Errorf("git diff-tree in %s ended early: %w", d.dir, err)
	}
	found, order := map[string]entry{}, []string{}
	for {
		start, err := d.answers.Peek(1)
		if err != nil {
			return nil, nil, fmt.Errorf("git diff-tree in %s ended early: %w", d.dir, err)
		}
		if start[0] != ':' {
			break
		}
		path, e, err := d.change()
		if err != nil {
			return nil, nil, err
		}
		found[path] = e
		order = append(order, path)
	}
	if line, err := d.answers.ReadString('\n'); err != nil || line != endOfAnswer {
		return nil, nil, fmt.Errorf("git diff-tree in %s answered %q about %s", d.dir, line, commit)
	}
	return found, order, nil
}

// change reads one: ":mode mode oid oid letter", the path, each ending in NUL.
func (d *differ) change() (string, entry, error) {
	head, err := d.answers.ReadString(0)
	if err != nil {
		return "", entry{}, err
	}
	path, err := d.answers.ReadString(0)
	f := strings.Fields(head)
	if err != nil || len(f) != 5 {
		return "", entry{}, fmt.Errorf("git diff-tree in %s answered %q", d.dir, head)
	}
	path = strings.TrimSuffix(path, "\x00")
	if f[1] == modeNone {
		return path, entry{mode: modeNone}, nil
	}
	return path, entry{f[1], f[3]}, nil
}
