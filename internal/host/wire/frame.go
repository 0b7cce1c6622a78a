// Package wire is the protocol between the holder of a hosted session and its clients: the shim that
// launched it, terminals that attach, and whoever asks about it.
//
// It runs over a unix stream socket. A frame is its type (one byte), the length of its payload (four
// bytes, little-endian) and the payload. Both sides begin with a Hello, without waiting for the other's,
// and speak the lower of the two versions; a type that is not known is skipped, so that types and fields
// can be added without a new version.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"agentwrap/internal/fdpass"
)

// Type is what a frame is.
type Type byte

// Both ways.
const Hello Type = 'h' // Greeting

// From client to holder.
const (
	Launch   Type = 'L' // Order; the descriptors travel with Descriptors frames behind it
	Files    Type = 'F' // one byte, with descriptors
	Attach   Type = 'a' // Size: this terminal shows the session from now on
	Input    Type = 'i' // bytes from the keyboard
	Resize   Type = 'w' // Size
	Signal   Type = 'g' // one byte, for the CLI
	Stopping Type = 'z' // after Stopped: this client stops itself, if the CLI is still stopped
	Continue Type = 'c' // State, when this client is continued
	Dismiss  Type = 'D' // every terminal is to leave; answered by Done
	Ask      Type = '?' // answered by Facts
	Peek     Type = 'p' // answered by Screen
	Insert   Type = 't' // bytes as if typed, from a client that is no terminal; answered by Done
)

// From holder to client.
const (
	Starting Type = 'b' // from now on the CLI may run
	Started  Type = 'S' // it does: the client's terminal is attached
	Refused  Type = 'R' // text: why not
	Output   Type = 'o' // bytes for the terminal
	Reset    Type = 'm' // what would take the terminal's modes back
	Stopped  Type = 's' // State: the CLI was stopped, behind its last byte
	Stay     Type = 'z' // to Stopping: the CLI is still stopped
	Resumed  Type = 'Z' // to Stopping: it is not
	Exited   Type = 'x' // State: the CLI ended, behind its last byte
	Detached Type = 'd' // what takes the modes back: leave the terminal now
	Pause    Type = '<' // send no Input until Proceed: the CLI does not read
	Proceed  Type = '>'
	Facts    Type = 'f' // Status
	Screen   Type = 'v' // bytes that draw the last screenful
	Done     Type = 'k' // empty, or text: why not
)

const (
	// HeadBytes is what a frame has before its payload.
	HeadBytes = 5
	// MaxPayload bounds a frame: far above the arguments and environment that Linux lets a program have.
	MaxPayload = 64 << 20
	// OutputBytes is how much terminal output goes into one frame at most.
	OutputBytes = 64 << 10
)

// ErrTooLong is returned for a frame that claims more than MaxPayload.
var ErrTooLong = errors.New("frame is too long")

// Append appends a frame to dst.
func Append(dst []byte, t Type, payload []byte) []byte {
	dst = append(dst, byte(t))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	return append(dst, payload...)
}

// PutHead makes a frame of a buffer whose payload of that length is in place behind HeadBytes.
func PutHead(frame []byte, t Type, length int) {
	frame[0] = byte(t)
	binary.LittleEndian.PutUint32(frame[1:], uint32(length))
}

// Send writes a frame to a blocking socket, with up to fdpass.Batch descriptors.
func Send(socket int, t Type, payload []byte, fds ...int) error {
	return fdpass.Send(socket, Append(make([]byte, 0, HeadBytes+len(payload)), t, payload), fds)
}

// Reader takes frames out of a stream. Its zero value is ready.
type Reader struct {
	buf         []byte
	read, write int
	// Files are the descriptors that came, in order, for whoever handles the frames to take.
	Files []int
}

// Fill reads once from socket. On a non-blocking socket with nothing to read the error is EAGAIN, at the
// end io.EOF.
func (r *Reader) Fill(socket int) error {
	r.room()
	n, fds, err := fdpass.Receive(socket, r.buf[r.write:])
	r.write += n
	r.Files = append(r.Files, fds...)
	return err
}

// Next is the next whole frame that was read, if there is one. The payload is valid until the next Fill.
func (r *Reader) Next() (t Type, payload []byte, ok bool, err error) {
	have := r.buf[r.read:r.write]
	if len(have) < HeadBytes {
		return 0, nil, false, nil
	}
	length := int(binary.LittleEndian.Uint32(have[1:]))
	if length > MaxPayload {
		return 0, nil, false, fmt.Errorf("%w: type %q, %d bytes", ErrTooLong, have[0], length)
	}
	if len(have) < HeadBytes+length {
		return 0, nil, false, nil
	}
	r.read += HeadBytes + length
	return Type(have[0]), have[HeadBytes : HeadBytes+length], true, nil
}

// Wait reads from a blocking socket until there is a whole frame.
func (r *Reader) Wait(socket int) (Type, []byte, error) {
	for {
		t, payload, ok, err := r.Next()
		if ok || err != nil {
			return t, payload, err
		}
		if err := r.Fill(socket); err != nil {
			return 0, nil, err
		}
	}
}

// room makes space to read into: for the rest of the frame that has begun, at least a frame of output.
func (r *Reader) room() {
	if r.read == r.write {
		r.read, r.write = 0, 0
	}
	need := OutputBytes + HeadBytes
	if have := r.buf[r.read:r.write]; len(have) >= HeadBytes {
		need = max(need, HeadBytes+min(int(binary.LittleEndian.Uint32(have[1:])), MaxPayload)-len(have))
	}
	if len(r.buf)-r.write >= need/2 && len(r.buf) > 0 && r.read < len(r.buf)/2 {
		return
	}
	buf := r.buf
	if len(buf) < r.write-r.read+need {
		buf = make([]byte, r.write-r.read+need)
	}
	r.write = copy(buf, r.buf[r.read:r.write])
	r.buf, r.read = buf, 0
}
