package rescue

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"agentwrap/internal/git"
)

// attributes are git's, of one path: name to value, without the unspecified.
type attributes map[string]string

var askedAttributes = []string{"filter", "text", "eol", "crlf", "ident", "working-tree-encoding"}

// attributesOf asks git for the attributes of the files among items. Those that
// count are on the disk, but where a sparse checkout leaves them off it.
func attributesOf(ctx context.Context, repo *git.Repository, items []item) (map[string]attributes, error) {
	var in bytes.Buffer
	for _, i := range items {
		if i.isFile() {
			in.WriteString(i.path)
			in.WriteByte(0)
		}
	}
	if in.Len() == 0 {
		return nil, nil
	}
	out, err := repo.Run(ctx, git.Command{
		NoIndex: repo.Setting("core.sparsecheckout") != "true",
		Args:    append([]string{"check-attr", "-z", "--stdin"}, askedAttributes...), Stdin: &in,
	})
	if err != nil {
		return nil, err
	}
	of := map[string]attributes{}
	fields := strings.Split(string(out), "\x00")
	for n := 0; n+2 < len(fields); n += 3 {
		path, name, value := fields[n], fields[n+1], fields[n+2]
		if value == "unspecified" {
			continue
		}
		if of[path] == nil {
			of[path] = attributes{}
		}
		of[path][name] = value
	}
	return of, nil
}

func (i item) isFile() bool { return i.content != nil && i.mode != modeLink }

// filter is the path's filter driver, "" for none.
func (a attributes) filter() string {
	if f := a["filter"]; f != "unset" && f != "set" {
		return f
	}
	return ""
}

// converts says that git may store other bytes than these: it turns CRLF into
// LF, $Id$ into its short form, another encoding into UTF-8. Bytes without
// these it stores as they are.
func (a attributes) converts(c content, autocrlf string) bool {
	if encoding := a["working-tree-encoding"]; encoding != "" && encoding != "unset" {
		return true
	}
	if c.ident && a["ident"] == "set" {
		return true
	}
	auto := autocrlf != "" && autocrlf != "false"
	return c.crlf && (auto || a["text"] != "" || a["eol"] != "" || a["crlf"] != "")
}

// convert gives each item the object that git would store, where that gives the
// same bytes back on the disk; else the bytes themselves are stored, and it is
// said. Filters of the user's are never run: their paths are stored as they are.
func (s *survey) convert(ctx context.Context, repo *git.Repository) error {
	of, err := attributesOf(ctx, repo, s.items)
	if err != nil {
		return err
	}
	if err := s.dropUnchangedLFS(ctx, repo, of); err != nil {
		return err
	}
	var converted []*item
	for n := range s.items {
		i := &s.items[n]
		if !i.isFile() {
			continue
		}
		a := of[i.path]
		if driver := a.filter(); driver != "" {
			s.raw = append(s.raw, Note{i.path, fmt.Sprintf("the filter %s was not run", driver)})
		}
		if a.converts(*i.content, repo.Setting("core.autocrlf")) {
			converted = append(converted, i)
		}
	}
	if converted, err = s.store(ctx, repo, converted); err != nil {
		return err
	}
	return s.compare(ctx, repo, converted)
}

// store has git convert and store the items and gives those where it could;
// the others stay as they are.
func (s *survey) store(ctx context.Context, repo *git.Repository, items []*item) ([]*item, error) {
	var stored []*item
	for len(items) > 0 {
		oids, err := hashObjects(ctx, repo, items)
		for n, oid := range oids {
			if oid != items[n].oid {
				items[n].oid = oid
				stored = append(stored, items[n])
			}
		}
		items = items[len(oids):]
		var failed *git.Error
		if errors.As(err, &failed) && failed.Cause == nil && len(items) > 0 {
			s.raw = append(s.raw, Note{items[0].path, "git cannot convert it: " + failed.Message})
			items = items[1:]
		} else if err != nil {
			return nil, err
		}
	}
	return stored, nil
}

// hashObjects gives the objects of the items up to the first that git fails on.
func hashObjects(ctx context.Context, repo *git.Repository, items []*item) ([]string, error) {
	config, err := repo.Durable(ctx)
	if err != nil {
		return nil, err
	}
	var in bytes.Buffer
	for _, i := range items {
		fmt.Fprintf(&in, "%s\n", quote(i.path))
	}
	out, err := repo.Run(ctx, git.Command{Args: []string{"hash-object", "-w", "--stdin-paths"}, Config: config, Stdin: &in})
	oids := strings.Fields(string(out))
	if len(oids) > len(items) || err == nil && len(oids) != len(items) {
		return nil, fmt.Errorf("git hash-object printed %d objects for %d files", len(oids), len(items))
	}
	return oids, err
}

// compare has git turn the stored objects back into what it would put on the
// disk. Where that is not what is there, the bytes themselves are stored.
func (s *survey) compare(ctx context.Context, repo *git.Repository, items []*item) error {
	for len(items) > 0 {
		same, err := givenBack(ctx, repo, items)
		if err != nil {
			return err
		}
		for _, i := range items[:same] {
			i.content = nil
		}
		items = items[same:]
		if len(items) > 0 {
			items[0].oid = items[0].content.oid
			s.raw = append(s.raw, Note{items[0].path, "git's conversion would not give its bytes back"})
			items = items[1:]
		}
	}
	return nil
}

// givenBack counts the items, from the first on, whose stored object becomes
// their bytes again. The answers have no length of their own, so the first that
// differs ends the look.
func givenBack(ctx context.Context, repo *git.Repository, items []*item) (int, error) {
	for n, i := range items {
		if strings.Contains(i.path, "\n") { // cannot be asked for on a line
			if n > 0 {
				return givenBack(ctx, repo, items[:n])
			}
			return 0, nil
		}
	}
	p, err := repo.Start(ctx, git.Command{Args: []string{"cat-file", "--batch=", "--filters"}})
	if err != nil {
		return 0, err
	}
	defer p.Kill()
	go func() {
		for _, i := range items {
			fmt.Fprintf(p.Stdin, "%s %s\n", i.oid, i.path)
		}
		p.Stdin.Close()
	}()
	answers := bufio.NewReader(p.Stdout)
	for n, i := range items {
		same, err := answered(answers, *i.content, repo.Format)
		if err != nil || !same {
			return n, err
		}
	}
	return len(items), nil
}

// answered reads one answer: an empty line, the bytes, a newline.
func answered(answers *bufio.Reader, c content, format string) (bool, error) {
	if line, err := answers.ReadString('\n'); err != nil || line != "\n" {
		return false, fmt.Errorf("git cat-file answered %q: %w", line, err)
	}
	h := newHash(format, c.size)
	if _, err := io.CopyN(h, answers, c.size); err != nil {
		return false, nil // the last answer, and shorter
	}
	end, err := answers.ReadByte()
	return err == nil && end == '\n' && fmt.Sprintf("%x", h.Sum(nil)) == c.oid, nil
}
