package rescue

import (
	"io/fs"
	"os"
)

// contextDir holds the sessions' tracked context files (docs/contextfiles.md).
// Git ignores it, and the files are work all the same.
const contextDir = ".tmp/sessions"

// lookContext adds the context files that git status did not list.
func (s *survey) lookContext(root *os.Root) {
	for _, dir := range []string{".tmp", contextDir} { // neither may be a link to elsewhere
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
			return
		}
	}
	listed := map[string]bool{}
	for _, i := range s.items {
		listed[i.path] = true
	}
	for _, n := range s.skipped {
		listed[n.Path] = true
	}
	_ = fs.WalkDir(root.FS(), contextDir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			s.skip(path, "it cannot be read: %v", cause(err))
		case d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular() && !listed[path]:
			s.addContext(root, path)
		}
		return nil
	})
}

func (s *survey) addContext(root *os.Root, path string) {
	if info, err := root.Lstat(path); err == nil { // else it is gone again
		s.items = append(s.items, item{path: path, mode: modeFile, seen: info})
	}
}
