package host

import (
	"bytes"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/wire"
	"agentwrap/internal/tlv"
)

// The bytes of protocol version 1, as they went out in the first release. They are never changed: a client of
// that release must be served by every later holder that still speaks version 1, and the other way round.
const (
	helloTerminal1 = "682a000000" + "0100" + "08000000" + "0100000000000000" + "0200" + "08000000" + "0100000000000000" + "0300" + "08000000" + "0200000000000000"
	helloControl1  = "682a000000" + "0100" + "08000000" + "0100000000000000" + "0200" + "08000000" + "0100000000000000" + "0300" + "08000000" + "0300000000000000"
	attach1        = "6108000000" + "1e005a0000000000"
	input1         = "6901000000" + "61"
	dismiss1       = "4400000000"
	ask1           = "3f00000000"
	signalKill1    = "6701000000" + "09"
	unknown1       = "5f04000000" + "01020304"
)

func unhex(t *testing.T, parts ...string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(strings.Join(parts, ""))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// converse sends bytes to a holder and reads until it has sent want.
func converse(t *testing.T, path string, send []byte, want ...string) {
	t.Helper()
	fd, err := connect(path)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	limitReads(fd, patience)
	if err := writeAll(fd, send); err != nil {
		t.Fatal(err)
	}
	var got []byte
	buf := make([]byte, 4096)
	for _, w := range want {
		for !bytes.Contains(got, []byte(w)) {
			n, err := readSome(fd, buf)
			if err != nil {
				t.Fatalf("no %q in %q: %v", w, got, err)
			}
			got = append(got, buf[:n]...)
		}
	}
}

func TestTheFirstReleasesClientIsServed(t *testing.T) {
	s := newStage(t, "")
	c := s.hosted("echo")
	c.expect("ready")
	converse(t, s.socket(c.id), unhex(t, helloControl1, unknown1, ask1), c.id)
	converse(t, s.socket(c.id), unhex(t, helloTerminal1, attach1, input1, dismiss1), "ready", "d\x03\x00\x00\x00\x1b[m", "k\x00\x00\x00\x00")
	c.exit()
	converse(t, s.socket(c.id), unhex(t, helloControl1, signalKill1), "k\x00\x00\x00\x00")
}

func TestAClientOfANewerReleaseIsServedIfItSpeaksThisVersion(t *testing.T) {
	s := newStage(t, "")
	c := s.hosted("echo")
	c.expect("ready")
	greeting := func(version, oldest int64) []byte {
		var m tlv.Message
		m.Int(1, version)
		m.Int(2, oldest)
		m.Int(3, int64(wire.Control))
		m.String(99, "a field of a later release")
		return wire.Append(nil, wire.Hello, m)
	}
	converse(t, s.socket(c.id), append(greeting(7, 1), unhex(t, ask1)...), c.id)

	fd, err := connect(s.socket(c.id))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := writeAll(fd, greeting(7, 7)); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(reader(fd))
	if err != nil || !bytes.Contains(got, []byte("R")) {
		t.Errorf("one that does not: %q, %v", got, err)
	}
	c.typed("q")
	c.exit()
}

type reader int

func (r reader) Read(b []byte) (int, error) { return readSome(int(r), b) }
