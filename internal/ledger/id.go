package ledger

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// maxIDLen bounds an id so that its file name, with the temporary suffix, fits
// every file system.
const maxIDLen = 120

// NewID makes an id for a session of a runtime that started at a time:
// runtime-YYYYMMDDTHHMMSSZ-NNNNNN, the digits random.
func NewID(runtime string, started time.Time) string {
	return idOf(runtime, started, randomDigits())
}

// IDTime is the start that an id tells; ok is false for one of another form.
func IDTime(id string) (started time.Time, ok bool) {
	rest, digits := cutLast(id)
	_, stamp := cutLast(rest)
	started, err := time.Parse(idLayout, stamp)
	return started, err == nil && len(digits) == digitsLen
}

func cutLast(id string) (before, after string) {
	at := strings.LastIndexByte(id, '-')
	return id[:max(at, 0)], id[at+1:]
}

const (
	idLayout  = "20060102T150405Z"
	digitsLen = 6
)

func randomDigits() string { return fmt.Sprintf("%0*d", digitsLen, rand.IntN(1_000_000)) }

func idOf(runtime string, started time.Time, digits string) string {
	return idName(runtime) + "-" + started.UTC().Format(idLayout) + "-" + digits
}

// idName makes a runtime's name safe in a file name: a symlink may have any.
func idName(runtime string) string {
	name := strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == '-' || isAlnum(r) {
			return r
		}
		return '_'
	}, runtime)
	name = strings.TrimLeft(name, ".-")
	if len(name) > 64 {
		name = name[:64]
	}
	if name == "" {
		return "unnamed"
	}
	return name
}

func isAlnum(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// ValidID tells whether a string can be a ledgerId: one that came from a file,
// an environment or a command line is checked before it becomes a path.
func ValidID(id string) bool {
	if id == "" || len(id) > maxIDLen || id[0] == '.' || id[0] == '-' {
		return false
	}
	for _, r := range id {
		if r != '.' && r != '_' && r != '-' && !isAlnum(r) {
			return false
		}
	}
	return true
}
