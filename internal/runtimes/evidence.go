package runtimes

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Folder is the CLI's own folder in a session that had ConfigHomeVar set to
// configHome, "" for unset; "" where it is not known.
func (p Profile) Folder(configHome, home string) string {
	switch {
	case p.ConfigHome == "" || configHome == "" && home == "":
		return ""
	case configHome == "":
		return filepath.Join(home, p.ConfigHome)
	case p.ConfigVarIsHome:
		return filepath.Join(configHome, p.ConfigHome)
	}
	return configHome
}

// TranscriptShape is the runtime whose transcripts have the shape of this one's.
func (p Profile) TranscriptShape() string {
	if p.TranscriptsLike != "" {
		return p.TranscriptsLike
	}
	return p.Name
}

// IDOfDescriptors is the conversation that a process shows by what it holds
// open: the paths that /proc has for its descriptors. It is "" where they show
// none, or more than one, as those of a daemon do.
func (p Profile) IDOfDescriptors(folder string, open []string) string {
	before, after, ok := strings.Cut(p.IDDescriptor, "{id}")
	if !ok || folder == "" {
		return ""
	}
	found := ""
	for _, path := range open {
		rest, below := strings.CutPrefix(path, filepath.Clean(folder)+"/"+before)
		id, fits := strings.CutSuffix(rest, after)
		if !below || !fits || !p.IsID(id) || id == found {
			continue
		}
		if found != "" {
			return ""
		}
		found = id
	}
	return found
}

// IDOfFile is the conversation that a process shows by a file that bears its
// pid, "" for none. One that is older than the process (started, by the clock
// of the file system) is left over from another with the same pid.
func (p Profile) IDOfFile(folder string, pid int, started time.Time) string {
	before, after, ok := strings.Cut(p.IDFile, "{id}")
	if !ok || folder == "" {
		return ""
	}
	after = strings.ReplaceAll(after, "{pid}", strconv.Itoa(pid))
	// Only a pattern that is no pattern fails.
	paths, _ := fs.Glob(os.DirFS(folder), before+"*"+after)
	found := ""
	for _, path := range paths {
		id := strings.TrimSuffix(strings.TrimPrefix(path, before), after)
		info, err := os.Lstat(filepath.Join(folder, path))
		if err != nil || !info.Mode().IsRegular() || !p.IsID(id) || info.ModTime().Before(started.Add(-clockSlack)) {
			continue
		}
		if found != "" {
			return ""
		}
		found = id
	}
	return found
}

// clockSlack is how far a process's start, which is told in ticks since the
// boot, may be off.
const clockSlack = 2 * time.Second
