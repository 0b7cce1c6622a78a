package wire

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"agentwrap/internal/tlv"
)

// Size is a terminal's size in cells and pixels, as TIOCGWINSZ tells it.
type Size struct{ Rows, Columns, XPixels, YPixels uint16 }

// Encode is the size as eight bytes.
func (s Size) Encode() []byte { return must(binary.Append(nil, binary.LittleEndian, s)) }

// ParseSize reads a size; one that is torn is zero, which no terminal has.
func ParseSize(payload []byte) (s Size) {
	_, _ = binary.Decode(payload, binary.LittleEndian, &s)
	return s
}

func encodeTermios(t *unix.Termios) []byte { return must(binary.Append(nil, binary.LittleEndian, t)) }

func parseTermios(value []byte) (*unix.Termios, error) {
	var t unix.Termios
	if _, err := binary.Decode(value, binary.LittleEndian, &t); err != nil {
		return nil, tlv.ErrTorn
	}
	return &t, nil
}

// must drops the error of encoding values of fixed size, which there is none of.
func must(b []byte, _ error) []byte { return b }

// Placement says what becomes of a descriptor in the CLI; Sent ones come with Files frames, in order.
type Placement struct {
	Number int  // its number there, or become.WorkingDir
	Sent   bool // else it is the CLI's terminal
}

// Order is the payload of Launch: all that a holder needs to start a CLI.
type Order struct {
	Spec       []byte // a become.Spec
	Files      []Placement
	LedgerRoot string
	LedgerID   string
	Size       Size
	Termios    *unix.Termios // nil for the kernel's defaults
	Background bool          // the launcher is not in its terminal's foreground
	Detached   bool          // there is no terminal
	Socket     string        // the path the holder is reached at; its listening socket is the first sent descriptor
	Tmux       string        // the tmux program, "" for a holder that is not in a pane
	TmuxSocket string
}

const (
	orderSpec tlv.Type = iota + 1
	orderSentFile
	orderTerminalFile
	orderLedgerRoot
	orderLedgerID
	orderSize
	orderTermios
	orderBackground
	orderDetached
	orderSocket
	orderTmux
	orderTmuxSocket
)

// Encode is the order as a frame's payload.
func (o Order) Encode() []byte {
	var m tlv.Message
	m.Bytes(orderSpec, o.Spec)
	for _, file := range o.Files {
		if file.Sent {
			m.Int(orderSentFile, int64(file.Number))
		} else {
			m.Int(orderTerminalFile, int64(file.Number))
		}
	}
	m.String(orderLedgerRoot, o.LedgerRoot)
	m.String(orderLedgerID, o.LedgerID)
	m.Bytes(orderSize, o.Size.Encode())
	if o.Termios != nil {
		m.Bytes(orderTermios, encodeTermios(o.Termios))
	}
	m.Bool(orderBackground, o.Background)
	m.Bool(orderDetached, o.Detached)
	m.String(orderSocket, o.Socket)
	m.String(orderTmux, o.Tmux)
	m.String(orderTmuxSocket, o.TmuxSocket)
	return m
}

// ParseOrder reads the payload of Launch and keeps nothing of it.
func ParseOrder(payload []byte) (o Order, err error) {
	err = tlv.Each(payload, func(t tlv.Type, value []byte) (err error) {
		switch t {
		case orderSpec:
			o.Spec = append([]byte(nil), value...)
		case orderSentFile, orderTerminalFile:
			o.Files = append(o.Files, Placement{Sent: t == orderSentFile})
			return tlv.SetInt(&o.Files[len(o.Files)-1].Number, value)
		case orderLedgerRoot:
			o.LedgerRoot = string(value)
		case orderLedgerID:
			o.LedgerID = string(value)
		case orderSize:
			o.Size = ParseSize(value)
		case orderTermios:
			o.Termios, err = parseTermios(value)
		case orderBackground:
			o.Background = true
		case orderDetached:
			o.Detached = true
		case orderSocket:
			o.Socket = string(value)
		case orderTmux:
			o.Tmux = string(value)
		case orderTmuxSocket:
			o.TmuxSocket = string(value)
		}
		return err
	})
	return o, err
}

// State is the payload of Stopped, Exited and Continue.
type State struct {
	Signal     int           // that stopped or ended the CLI; 0 where it exited
	Code       int           // its exit code
	Foreground bool          // in Continue: the client has its terminal
	Termios    *unix.Termios // as the CLI left its terminal, in Continue as the client found its own; nil for none
}

const (
	stateSignal tlv.Type = iota + 1
	stateCode
	stateTermios
	stateForeground
)

// Encode is the state as a frame's payload.
func (s State) Encode() []byte {
	var m tlv.Message
	m.Int(stateSignal, int64(s.Signal))
	m.Int(stateCode, int64(s.Code))
	if s.Termios != nil {
		m.Bytes(stateTermios, encodeTermios(s.Termios))
	}
	m.Bool(stateForeground, s.Foreground)
	return m
}

// ParseState reads a state.
func ParseState(payload []byte) (s State, err error) {
	err = tlv.Each(payload, func(t tlv.Type, value []byte) (err error) {
		switch t {
		case stateSignal:
			return tlv.SetInt(&s.Signal, value)
		case stateCode:
			return tlv.SetInt(&s.Code, value)
		case stateTermios:
			s.Termios, err = parseTermios(value)
		case stateForeground:
			s.Foreground = true
		}
		return err
	})
	return s, err
}
