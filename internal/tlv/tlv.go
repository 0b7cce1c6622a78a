// Package tlv writes and reads messages made of type-length-value fields: what goes between the parts of
// a hosted session. Values are any bytes. A reader skips types that it does not know and takes absent
// ones for zero, so that releases that differ understand each other.
//
// A field is its type (two bytes), the length of its value (four bytes) and the value; integers are
// little-endian. A type may occur more than once: a list is its fields in order.
package tlv

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Type says what a field is; each message has types of its own.
type Type uint16

const headBytes = 2 + 4

// ErrTorn is returned for bytes that are not whole fields.
var ErrTorn = errors.New("message is torn")

// Message is the bytes of a message being written. The zero value is an empty message.
type Message []byte

// Bytes appends a field.
func (m *Message) Bytes(t Type, value []byte) {
	m.head(t, len(value))
	*m = append(*m, value...)
}

// String appends a field.
func (m *Message) String(t Type, value string) {
	m.head(t, len(value))
	*m = append(*m, value...)
}

// Strings appends a field for every value, in order.
func (m *Message) Strings(t Type, values []string) {
	for _, value := range values {
		m.String(t, value)
	}
}

// Int appends a field of eight bytes.
func (m *Message) Int(t Type, value int64) {
	m.head(t, 8)
	*m = binary.LittleEndian.AppendUint64(*m, uint64(value))
}

// Bool appends a field only when value is true.
func (m *Message) Bool(t Type, value bool) {
	if value {
		m.head(t, 0)
	}
}

func (m *Message) head(t Type, length int) {
	*m = binary.LittleEndian.AppendUint16(*m, uint16(t))
	*m = binary.LittleEndian.AppendUint32(*m, uint32(length))
}

// Each calls field for every field of a message, in order, and stops at its first error. The values lie
// in message; whoever keeps one copies it.
func Each(message []byte, field func(t Type, value []byte) error) error {
	for len(message) > 0 {
		if len(message) < headBytes {
			return ErrTorn
		}
		t := Type(binary.LittleEndian.Uint16(message))
		length := uint64(binary.LittleEndian.Uint32(message[2:]))
		message = message[headBytes:]
		if length > uint64(len(message)) {
			return ErrTorn
		}
		if err := field(t, message[:length]); err != nil {
			return fmt.Errorf("field %d: %w", t, err)
		}
		message = message[length:]
	}
	return nil
}

// AsInt is the value of an Int field.
func AsInt(value []byte) (int64, error) {
	if len(value) != 8 {
		return 0, ErrTorn
	}
	return int64(binary.LittleEndian.Uint64(value)), nil
}

// SetInt puts the value of an Int field into target.
func SetInt[T ~int | ~int64 | ~uint64](target *T, value []byte) error {
	n, err := AsInt(value)
	if err == nil {
		*target = T(n)
	}
	return err
}
