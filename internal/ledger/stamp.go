package ledger

import (
	"fmt"
	"time"
)

// Stamp is a point in time as entries hold it: UTC, RFC 3339, whole seconds,
// ending in Z. Fractions are read and dropped on the next write.
type Stamp struct{ time.Time }

const stampLayout = "2006-01-02T15:04:05Z"

// At is the stamp of a time.
func At(t time.Time) *Stamp { return &Stamp{t.UTC().Truncate(time.Second)} }

// String is the stamp as it stands in an entry.
func (s Stamp) String() string { return s.UTC().Format(stampLayout) }

// text is the stamp as it stands in an entry, nil for none.
func (s *Stamp) text() *string {
	if s == nil {
		return nil
	}
	return Ptr(s.String())
}

// MarshalJSON writes the stamp as a string.
func (s Stamp) MarshalJSON() ([]byte, error) {
	return s.UTC().AppendFormat(make([]byte, 0, 24), `"`+stampLayout+`"`), nil
}

// UnmarshalJSON reads any RFC 3339 time. null never gets here: a stamp is held
// by pointer.
func (s *Stamp) UnmarshalJSON(raw []byte) error {
	if len(raw) < 2 || raw[0] != '"' {
		return fmt.Errorf("time %.40s is not a string", raw)
	}
	t, err := time.Parse(time.RFC3339, string(raw[1:len(raw)-1]))
	if err != nil {
		return fmt.Errorf("time %.40s is not in the form 2006-01-02T15:04:05Z", raw)
	}
	s.Time = t.UTC()
	return nil
}
