package wire

import (
	"errors"
	"fmt"

	"agentwrap/internal/tlv"
)

const (
	// Version is the protocol that this release speaks.
	Version = 1
	// Oldest is the oldest that it still understands.
	Oldest = 1
)

// ErrVersion is wrapped by the error for a peer that shares no version with this release.
var ErrVersion = errors.New("speaks another version of the protocol")

// Role is what a peer is, told in its Greeting.
type Role int

const (
	Holder   Role = 1 + iota
	Terminal      // shows the session
	Control       // asks and orders
)

// Greeting is the payload of Hello.
type Greeting struct {
	Version, Oldest int
	Role            Role
}

const (
	greetingVersion tlv.Type = iota + 1
	greetingOldest
	greetingRole
)

// Greet is this release's greeting as a frame's payload.
func Greet(role Role) []byte {
	var m tlv.Message
	m.Int(greetingVersion, Version)
	m.Int(greetingOldest, Oldest)
	m.Int(greetingRole, int64(role))
	return m
}

// ParseGreeting reads the payload of a Hello and tells whether the peer and this release understand each
// other: an error wraps ErrVersion when they do not.
func ParseGreeting(payload []byte) (g Greeting, err error) {
	err = tlv.Each(payload, func(t tlv.Type, value []byte) error {
		switch t {
		case greetingVersion:
			return tlv.SetInt(&g.Version, value)
		case greetingOldest:
			return tlv.SetInt(&g.Oldest, value)
		case greetingRole:
			return tlv.SetInt(&g.Role, value)
		}
		return nil
	})
	if err == nil && (g.Oldest > Version || g.Version < Oldest) {
		err = fmt.Errorf("%w: %d to %d, this is %d to %d", ErrVersion, g.Oldest, g.Version, Oldest, Version)
	}
	return g, err
}
