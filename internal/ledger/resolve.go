package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// AmbiguousError is a short form of an id that fits several sessions.
type AmbiguousError struct {
	Short string
	IDs   []string // in the order of their names
}

// candidatesShown bounds how many ids an error lists.
const candidatesShown = 10

func (e *AmbiguousError) Error() string {
	shown, rest := e.IDs, ""
	if len(shown) > candidatesShown {
		rest = fmt.Sprintf(" and %d more", len(shown)-candidatesShown)
		shown = shown[:candidatesShown]
	}
	return fmt.Sprintf("%q fits %d sessions, give more of the id: %s%s", e.Short, len(e.IDs), strings.Join(shown, ", "), rest)
}

// Resolve is the id that a person means by short: a whole id, a beginning of
// one, or some of its last digits. The error wraps ErrNoSession or is an
// *AmbiguousError. A damaged entry's id counts as any other.
func (s *Store) Resolve(short string) (string, error) {
	ids, err := s.IDs()
	if err != nil {
		return "", err
	}
	return Resolve(ids, short)
}

// Resolve is Store.Resolve among given ids.
func Resolve(ids []string, short string) (string, error) {
	var fits []string
	for _, id := range ids {
		switch {
		case id == short:
			return id, nil
		case short != "" && (strings.HasPrefix(id, short) || isDigits(short) && strings.HasSuffix(LastDigits(id), short)):
			fits = append(fits, id)
		}
	}
	switch len(fits) {
	case 0:
		return "", fmt.Errorf("session %.80q: %w: 'agent-sessions list --all' shows those there are", short, ErrNoSession)
	case 1:
		return fits[0], nil
	}
	slices.Sort(fits)
	return "", &AmbiguousError{Short: short, IDs: fits}
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// LastDigits are the digits at an id's end, which people type.
func LastDigits(id string) string { return id[strings.LastIndexByte(id, '-')+1:] }
