package transcript

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Find is the file of a conversation by its id alone: the newest below folder
// that fits the pattern, one of path.Match in which {id} stands for the id,
// {id8} for its first 8 characters and {day} for the folders YYYY/MM/DD. "" means
// that there is none.
func Find(folder, pattern, id string) (string, error) {
	if !PlainID(id) || folder == "" || pattern == "" {
		return "", nil
	}
	short := id[:min(8, len(id))]
	pattern = strings.NewReplacer("{id}", id, "{id8}", short).Replace(pattern)
	var newest time.Time
	found := ""
	for _, p := range days(pattern, id) {
		paths, err := fs.Glob(os.DirFS(folder), p)
		if err != nil {
			return "", fmt.Errorf("look for the transcript of %s in %s: pattern %q: %w", id, folder, pattern, path.ErrBadPattern)
		}
		for _, name := range paths {
			file := filepath.Join(folder, name)
			info, err := Stat(file)
			if err == nil && (found == "" || info.ModTime.After(newest)) && (strings.Contains(name, id) || namesID(file, id)) {
				found, newest = file, info.ModTime
			}
		}
	}
	return found, nil
}

// days are the patterns of the days that a conversation can have begun on: an id
// of version 7 holds its time, to which any time zone adds less than a day.
func days(pattern, id string) []string {
	if !strings.Contains(pattern, "{day}") {
		return []string{pattern}
	}
	began, ok := timeOf(id)
	if !ok {
		return []string{strings.ReplaceAll(pattern, "{day}", "*/*/*")}
	}
	var list []string
	for _, shift := range []int{-1, 0, 1} {
		list = append(list, strings.ReplaceAll(pattern, "{day}", began.AddDate(0, 0, shift).Format("2006/01/02")))
	}
	return list
}

// timeOf is the time in a UUID of version 7: milliseconds in its first 48 bits.
func timeOf(id string) (time.Time, bool) {
	raw, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(raw) != 16 || raw[6]>>4 != 7 {
		return time.Time{}, false
	}
	var ms int64
	for _, b := range raw[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms).UTC(), true
}

// namesID tells whether a transcript's first line names the conversation, where
// its file's name holds only a part of the id.
func namesID(file, id string) bool {
	line, err := firstLine(file)
	return err == nil && gjson.GetBytes(line, "sessionId").Str == id
}
