package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// ErrDamaged is wrapped by the error for a file that holds no entry: torn, not
// JSON, or with a field of the wrong type.
var ErrDamaged = errors.New("damaged entry")

// ErrNewer is wrapped by the error for an update of an entry whose
// schemaVersion is higher than this program's: it is shown, never rewritten.
var ErrNewer = errors.New("entry was written by a newer version")

// plain is Entry without its methods, for encoding/json to work on.
type plain Entry

// Decode reads an entry. The error wraps ErrDamaged and says what is wrong.
func Decode(raw []byte) (*Entry, error) {
	e := new(Entry)
	if err := json.Unmarshal(raw, e); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if e.SchemaVersion < 1 || !ValidID(e.LedgerID) {
		return nil, fmt.Errorf("%w: no schemaVersion or no valid ledgerId", ErrDamaged)
	}
	return e, nil
}

// UnmarshalJSON reads the known fields and keeps the unknown ones.
func (e *Entry) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, (*plain)(e)); err != nil {
		return err
	}
	return e.keepUnknown(raw)
}

// keepUnknown walks the object's own fields once and keeps what is not ours.
func (e *Entry) keepUnknown(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if s, ok := name.(string); ok && !isKnownField(s) {
			e.unknown = append(e.unknown, unknownField{s, value})
		}
	}
	return nil
}

// isKnownField matches as encoding/json does: without regard to case.
func isKnownField(name string) bool { return knownFields()[strings.ToLower(name)] }

var knownFields = sync.OnceValue(func() map[string]bool {
	known := make(map[string]bool)
	for f := range reflect.TypeFor[plain]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			known[strings.ToLower(name)] = true
		}
	}
	return known
})
