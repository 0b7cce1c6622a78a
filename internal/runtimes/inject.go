package runtimes

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// GiveID is how a run is given the id of its conversation (docs/runtimes.md,
// "What a launch adds").
type GiveID struct {
	// Flag comes before the id.
	Flag string
	// Package is the npm package and Since its first version that is known to
	// take the flag: an older one would refuse to start.
	Package, Since string
	// NotWith are flags that the CLI refuses beside it or that name a
	// conversation already.
	NotWith []string
}

// TakesID tells whether a launch with these arguments can be given an id and
// goes on as it would without. On a screen it would not: these CLIs start
// themselves anew with the same arguments (after a changed setting, say), and
// refuse an id that is in use.
func (p Profile) TakesID(args []string) bool {
	if p.GiveID.Flag == "" || p.Kind(args) != Headless {
		return false
	}
	for i := range p.items(args) {
		if i.isAny(p.GiveID.NotWith) || i.isAny(p.IDFlags) || i.isAny(p.NewIDFlags) || i.isAny(p.ForkFlags) {
			return false
		}
	}
	return true
}

// PluginFile is the plugin that tells opencode's sessions, beside the shim
// folder; "" where that is not known. `agent-sessions hooks` writes it.
func PluginFile(getenv func(string) string) string {
	dir := ShimDir(getenv)
	if dir == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(dir), "opencode.js")
}

// WithPlugin is a configuration (a JSON object, "" for none) that names a
// plugin file beside those it has. ok is false for one that cannot be added to,
// which stays as it is, and for one that names the file already.
func WithPlugin(config, file string) (with string, ok bool) {
	name := fileURL(file)
	if config == "" {
		config = "{}"
	}
	if !gjson.Valid(config) || !gjson.Parse(config).IsObject() {
		return "", false
	}
	plugins := gjson.Get(config, "plugin")
	if plugins.Exists() && !plugins.IsArray() || slices.ContainsFunc(plugins.Array(), func(p gjson.Result) bool { return p.Str == name }) {
		return "", false
	}
	with, err := sjson.Set(config, "plugin.-1", name)
	return with, err == nil
}

// fileURL is the URL of a file, by RFC 3986. The library's package would cost
// every launch its start.
func fileURL(path string) string {
	var b strings.Builder
	b.WriteString("file://")
	for _, c := range []byte(path) {
		if strings.IndexByte(idChars+"./~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
