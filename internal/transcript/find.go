package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/tidwall/gjson"
)

// FindClaude is the transcript of one of Claude Code's conversations, by its id
// alone: in the project folder of cwd where it is there, else in whichever
// project folder has it (the newest of several). configHome is the CLI's own
// folder, ~/.claude by default. "" means that there is none.
func FindClaude(configHome, id, cwd string) (string, error) {
	if !PlainID(id) {
		return "", nil
	}
	projects := filepath.Join(configHome, "projects")
	name := id + ".jsonl"
	if dir := claudeProject(cwd); dir != "" {
		path := filepath.Join(projects, dir, name)
		if _, err := Stat(path); err == nil {
			return path, nil
		}
	}
	folders, err := os.ReadDir(projects)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var newest time.Time
	found := ""
	for _, dir := range folders {
		path := filepath.Join(projects, dir.Name(), name)
		if info, err := Stat(path); err == nil && (found == "" || info.ModTime.After(newest)) {
			found, newest = path, info.ModTime
		}
	}
	return found, nil
}

// PlainID tells whether a conversation's id is one that may become part of a
// file's name and of a command line.
func PlainID(id string) bool {
	return id != "" && len(id) <= 128 && id[0] != '-' && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// claudeProject is the folder that Claude Code keeps a directory's
// conversations in: each UTF-16 unit other than a letter or digit is a dash.
// Different directories may share one, so it is never read backwards. A long
// one ends in a hash that is not known here: "".
func claudeProject(cwd string) string {
	if cwd == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real
	}
	units := utf16.Encode([]rune(cwd))
	if len(units) > 200 {
		return ""
	}
	name := make([]byte, len(units))
	for i, u := range units {
		name[i] = '-'
		if u < 128 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			name[i] = byte(u)
		}
	}
	return string(name)
}

// IsSidechain tells whether a transcript is that of a subagent, whose first
// line says so. Such a one is never a session's.
func IsSidechain(path string) (bool, error) {
	line, err := firstLine(path)
	return gjson.GetBytes(line, "isSidechain").Bool(), err
}

// firstLine is a file's first line as far as a window reaches, nil for none.
func firstLine(path string) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("read transcript %s: %w", path, ErrNotRegular)
	}
	head, err := readWindow(f, make([]byte, Window), 0)
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return line, nil
}
