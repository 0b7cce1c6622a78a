package launch

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"agentwrap/internal/realcli"
	"agentwrap/internal/runtimes"
)

// injectVar, set to 0, leaves every CLI's arguments and environment alone but
// for the session's own variables.
const injectVar = "AGENTWRAP_INJECT"

// inject adds what lets a CLI tell which conversation it carries, and changes
// nothing else of what it does (docs/runtimes.md, "What a launch adds").
func (l *launch) inject() {
	if l.env.get(injectVar) == "0" {
		return
	}
	l.giveID()
	l.addPlugin()
}

// giveID names a headless run's conversation, where every program that may be
// started is known to take the name.
func (l *launch) giveID() {
	give := l.profile.GiveID
	if !l.profile.TakesID(l.argv[1:]) || !all(l.found.Candidates, func(path string) bool { return realcli.IsPackage(path, give.Package, give.Since) }) {
		return
	}
	id, err := newUUID()
	if err != nil {
		return
	}
	l.argv = slices.Insert(slices.Clone(l.argv), 1, give.Flag, id)
}

func all(list []string, holds func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !holds(s) })
}

// newUUID is a random UUID, of version 4.
func newUUID() (string, error) {
	var b [16]byte
	if _, err := unix.Getrandom(b[:], 0); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// addPlugin names the plugin that is installed beside the shims, for this
// launch alone.
func (l *launch) addPlugin() {
	if l.profile.PluginVar == "" {
		return
	}
	file := runtimes.PluginFile(l.env.get)
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() {
		return
	}
	cwd, err := os.Getwd()
	if err != nil || !l.profile.PluginReady(l.env.get, cwd, l.argv[1:]) {
		return
	}
	if config, ok := runtimes.WithPlugin(l.env.get(l.profile.PluginVar), file); ok {
		l.env = l.env.with(l.profile.PluginVar, config)
	}
}
