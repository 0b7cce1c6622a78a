package realcli

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"agentwrap/internal/statefile"
)

// manifestLimit bounds what is read of a package's manifest, in bytes, and
// packageDepth how many folders above its program the manifest is looked for.
const (
	manifestLimit = 64 << 10
	packageDepth  = 4
)

// IsPackage tells whether a program belongs to an npm package, in a version
// from since on. What cannot be proved is false.
func IsPackage(program, name, since string) bool {
	dir, err := filepath.EvalSymlinks(program)
	if err != nil {
		return false
	}
	for range packageDepth {
		dir = filepath.Dir(dir)
		// One that cannot be read names nothing.
		raw, _ := statefile.Read(filepath.Join(dir, "package.json"), manifestLimit)
		manifest := gjson.GetManyBytes(raw, "name", "version")
		if manifest[0].Str == name {
			return atLeast(manifest[1].Str, since)
		}
	}
	return false
}

// atLeast compares versions of the form 1.2.3; what comes behind a - makes one
// earlier than the same without.
func atLeast(version, since string) bool {
	version, early, _ := strings.Cut(version, "-")
	have, want := strings.Split(version, "."), strings.Split(since, ".")
	if len(have) != len(want) {
		return false
	}
	for i := range have {
		h, herr := strconv.Atoi(have[i])
		w, werr := strconv.Atoi(want[i])
		if herr != nil || werr != nil || h != w {
			return herr == nil && werr == nil && h > w
		}
	}
	return early == ""
}
