package rescue

import (
	"bytes"
	"fmt"
	"strings"
)

// statusArgs are the call of git status that parseStatus reads.
var statusArgs = []string{
	"status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z",
	"--untracked-files=all", "--no-renames",
}

// status is what git status said.
type status struct {
	// head is the commit that HEAD is at, "" before the first; branch is its
	// name, "" where detached.
	head, branch string
	changes      []change
}

// change is one path that differs between HEAD, index and disk.
type change struct {
	path string
	// kind is 1 for a tracked path, u for an unmerged and ? for an untracked one.
	kind byte
	// staged and unstaged are git's letters for HEAD to index and index to disk,
	// '.' for no change.
	staged, unstaged byte
	// Modes and objects in HEAD and in the index, and the mode on disk. A mode
	// of zeros is no such path. HEAD's are not known of an unmerged path.
	headMode, indexMode, diskMode string
	headOID, indexOID             string
}

const (
	modeNone    = "000000"
	modeFile    = "100644"
	modeProgram = "100755"
	modeLink    = "120000"
	modeGitlink = "160000"
)

// parseStatus reads the output of git status with statusArgs
// (git-status(1), "Porcelain Format Version 2").
func parseStatus(out []byte) (status, error) {
	var s status
	for record := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		line := string(record)
		switch {
		case line == "":
		case strings.HasPrefix(line, "# "):
			s.header(line)
		case strings.HasPrefix(line, "? "):
			s.changes = append(s.changes, change{path: line[2:], kind: '?', headMode: modeNone, indexMode: modeNone})
		default:
			c, err := parseTracked(line)
			if err != nil {
				return status{}, err
			}
			s.changes = append(s.changes, c)
		}
	}
	return s, nil
}

func (s *status) header(line string) {
	if oid, ok := strings.CutPrefix(line, "# branch.oid "); ok && oid != "(initial)" {
		s.head = oid
	}
	if name, ok := strings.CutPrefix(line, "# branch.head "); ok && name != "(detached)" {
		s.branch = name
	}
}

func parseTracked(line string) (change, error) {
	kinds := map[string]int{"1 ": 9, "u ": 11}
	fields := kinds[line[:min(2, len(line))]]
	f := strings.SplitN(line, " ", fields)
	if fields == 0 || len(f) != fields || len(f[1]) != 2 {
		return change{}, fmt.Errorf("git status printed %q, which is not understood", line)
	}
	c := change{path: f[fields-1], kind: f[0][0], staged: f[1][0], unstaged: f[1][1]}
	if c.kind == '1' {
		c.headMode, c.indexMode, c.diskMode, c.headOID, c.indexOID = f[3], f[4], f[5], f[6], f[7]
	} else {
		c.diskMode = f[6]
	}
	return c, nil
}

// hiddenArgs are the call of git ls-files that parseHidden reads.
var hiddenArgs = []string{"ls-files", "-v", "--stage", "-z"}

// parseHidden gives the paths that a sparse checkout leaves off the disk, as
// changed on it: where one is there all the same, git before 2.36, or one that
// is told to expect it, does not list it.
func parseHidden(out []byte) []change {
	var changes []change
	for record := range bytes.SplitSeq(out, []byte{0}) {
		head, path, _ := strings.Cut(string(record), "\t")
		f := strings.Fields(head)
		if len(f) != 4 || f[0] != "S" || f[1] == modeGitlink {
			continue
		}
		changes = append(changes, change{
			path: path, kind: '1', staged: '.', unstaged: 'M', headMode: f[1], indexMode: f[1], headOID: f[2], indexOID: f[2],
		})
	}
	return changes
}
