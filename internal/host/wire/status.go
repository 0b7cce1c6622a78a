package wire

import "agentwrap/internal/tlv"

// Status is the payload of Facts: what a live holder knows of its session.
type Status struct {
	Version    int // of the protocol, the holder's
	LedgerID   string
	HolderPID  int
	PID        int    // of the CLI
	StartTicks uint64 // of the CLI, field 22 of its stat
	Terminals  int    // attached ones
	Size       Size   // the CLI's
	Stopped    bool   // the CLI is stopped by a signal
	Mirrored   bool   // its screen and history are kept beside the holder
}

const (
	statusVersion tlv.Type = iota + 1
	statusLedgerID
	statusHolderPID
	statusPID
	statusStartTicks
	statusTerminals
	statusSize
	statusStopped
	statusMirrored
)

// Encode is the status as a frame's payload.
func (s Status) Encode() []byte {
	var m tlv.Message
	m.Int(statusVersion, int64(s.Version))
	m.String(statusLedgerID, s.LedgerID)
	m.Int(statusHolderPID, int64(s.HolderPID))
	m.Int(statusPID, int64(s.PID))
	m.Int(statusStartTicks, int64(s.StartTicks))
	m.Int(statusTerminals, int64(s.Terminals))
	m.Bytes(statusSize, s.Size.Encode())
	m.Bool(statusStopped, s.Stopped)
	m.Bool(statusMirrored, s.Mirrored)
	return m
}

// ParseStatus reads the payload of Facts.
func ParseStatus(payload []byte) (s Status, err error) {
	err = tlv.Each(payload, func(t tlv.Type, value []byte) error {
		switch t {
		case statusVersion:
			return tlv.SetInt(&s.Version, value)
		case statusLedgerID:
			s.LedgerID = string(value)
		case statusHolderPID:
			return tlv.SetInt(&s.HolderPID, value)
		case statusPID:
			return tlv.SetInt(&s.PID, value)
		case statusStartTicks:
			return tlv.SetInt(&s.StartTicks, value)
		case statusTerminals:
			return tlv.SetInt(&s.Terminals, value)
		case statusSize:
			s.Size = ParseSize(value)
		case statusStopped:
			s.Stopped = true
		case statusMirrored:
			s.Mirrored = true
		}
		return nil
	})
	return s, err
}
