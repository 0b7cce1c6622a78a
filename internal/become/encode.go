package become

import (
	"agentwrap/internal/tlv"
)

// Field types of an encoded Spec. A number is never given to another meaning.
const (
	fieldPath tlv.Type = iota + 1
	fieldArgument
	fieldVariable
	fieldDir
	fieldUmask
	fieldNice
	fieldLimit
	fieldIgnored
	fieldBlocked
)

const (
	limitResource tlv.Type = iota + 1
	limitSoft
	limitHard
)

// Encode returns the spec as bytes for Decode, in this program or in another release's.
func (s Spec) Encode() []byte {
	var m tlv.Message
	m.String(fieldPath, s.Path)
	m.Strings(fieldArgument, s.Argv)
	m.Strings(fieldVariable, s.Env)
	m.String(fieldDir, s.Dir)
	m.Int(fieldUmask, int64(s.Umask))
	m.Int(fieldNice, int64(s.Nice))
	for _, limit := range s.Limits {
		m.Bytes(fieldLimit, limit.encode())
	}
	m.Int(fieldIgnored, int64(s.Ignored))
	m.Int(fieldBlocked, int64(s.Blocked))
	return m
}

func (l Limit) encode() []byte {
	var m tlv.Message
	m.Int(limitResource, int64(l.Resource))
	m.Int(limitSoft, int64(l.Soft))
	m.Int(limitHard, int64(l.Hard))
	return m
}

// Decode reads what Encode wrote.
func Decode(encoded []byte) (Spec, error) {
	var s Spec
	err := tlv.Each(encoded, s.set)
	return s, err
}

func (s *Spec) set(t tlv.Type, value []byte) error {
	switch t {
	case fieldPath:
		s.Path = string(value)
	case fieldArgument:
		s.Argv = append(s.Argv, string(value))
	case fieldVariable:
		s.Env = append(s.Env, string(value))
	case fieldDir:
		s.Dir = string(value)
	case fieldUmask:
		return tlv.SetInt(&s.Umask, value)
	case fieldNice:
		return tlv.SetInt(&s.Nice, value)
	case fieldLimit:
		s.Limits = append(s.Limits, Limit{})
		return tlv.Each(value, s.Limits[len(s.Limits)-1].set)
	case fieldIgnored:
		return tlv.SetInt(&s.Ignored, value)
	case fieldBlocked:
		return tlv.SetInt(&s.Blocked, value)
	}
	return nil
}

func (l *Limit) set(t tlv.Type, value []byte) error {
	switch t {
	case limitResource:
		return tlv.SetInt(&l.Resource, value)
	case limitSoft:
		return tlv.SetInt(&l.Soft, value)
	case limitHard:
		return tlv.SetInt(&l.Hard, value)
	}
	return nil
}
