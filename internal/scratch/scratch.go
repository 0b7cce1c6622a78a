// Package scratch gives every session a folder of its own for working files,
// one that outlives a reboot, and takes it away once the session has ended and
// the folder has rested (docs/scratch.md). The shim makes the folder at launch;
// the companion names, lists and cleans.
package scratch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"
)

// Variables of the environment that this package reads; an empty one counts as
// unset. Var names the folder, for the session's own processes.
const (
	Var          = "OPENAGENTS_SCRATCH"
	RootVar      = "OPENAGENTS_SCRATCH_ROOT"
	LeaseRootVar = "OPENAGENTS_LEASE_ROOT"
	SessionVar   = "OPENAGENTS_SESSION"
)

// maxName is the length of the longest folder name, in characters, which are
// all ASCII. suffixLen of them tell sessions apart whose names fall together.
const (
	maxName   = 96
	suffixLen = len("-") + 8
)

// Root is where the folders live for an environment: $OPENAGENTS_SCRATCH_ROOT,
// else scratch beside the lease root.
func Root(getenv func(string) string) (string, error) {
	if dir := getenv(RootVar); dir != "" {
		return filepath.Abs(dir)
	}
	leases, err := LeaseRoot(getenv)
	if err != nil {
		return "", errors.New("find the scratch root: set HOME, " + RootVar + " or " + LeaseRootVar)
	}
	return filepath.Join(filepath.Dir(leases), "scratch"), nil
}

// LeaseRoot is where the lease table lives for an environment:
// $OPENAGENTS_LEASE_ROOT, else ~/.openagents/leases.
func LeaseRoot(getenv func(string) string) (string, error) {
	if dir := getenv(LeaseRootVar); dir != "" {
		return filepath.Abs(dir)
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("find the lease root: set HOME or " + LeaseRootVar)
	}
	return filepath.Join(home, ".openagents", "leases"), nil
}

// Name is the folder name of a session: ASCII letters, digits, '.', '_' and '-'
// stay, ':' becomes '-', any other character '_', leading dots go, and 96
// characters are kept. A session of which nothing is left is "session".
func Name(session string) string {
	name := strings.TrimLeft(strings.Map(safe, session), ".")
	if name == "" {
		return "session"
	}
	return name[:min(len(name), maxName)]
}

func safe(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		return r
	case r == ':':
		return '-'
	}
	return '_'
}

// ownName is the folder name of a session whose Name another session has
// already: the same with '-' and 8 hex digits of the session's SHA-256.
func ownName(session string) string {
	sum := sha256.Sum256([]byte(session))
	name := Name(session)
	return name[:min(len(name), maxName-suffixLen)] + "-" + hex.EncodeToString(sum[:4])
}
