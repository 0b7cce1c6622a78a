package wire

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"golang.org/x/sys/unix"
)

func pair(t *testing.T) (a, b int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	return fds[0], fds[1]
}

func TestFramesComeOutAsTheyWentIn(t *testing.T) {
	a, b := pair(t)
	long := bytes.Repeat([]byte("x"), 3*OutputBytes)
	go func() {
		_ = Send(a, Input, nil)
		_ = Send(a, Output, long)
		_ = Send(a, Files, []byte{0}, a)
	}()
	var r Reader
	for _, want := range []struct {
		t       Type
		payload []byte
	}{{Input, nil}, {Output, long}, {Files, []byte{0}}} {
		got, payload, err := r.Wait(b)
		if err != nil || got != want.t || !bytes.Equal(payload, want.payload) {
			t.Fatalf("%q with %d bytes, %v; want %q with %d", got, len(payload), err, want.t, len(want.payload))
		}
	}
	if len(r.Files) != 1 {
		t.Fatalf("%d descriptors came", len(r.Files))
	}
	unix.Close(r.Files[0])
}

func TestMessagesSurviveTheirEncoding(t *testing.T) {
	order := Order{
		Spec: []byte("spec\x00"), Files: []Placement{{-1, true}, {7, false}}, LedgerRoot: "/r", LedgerID: "id", Size: Size{1, 2, 3, 4},
		Termios: &unix.Termios{Iflag: 5, Cc: [19]uint8{1: 9}}, Background: true, Detached: true, Socket: "/s", Tmux: "/t", TmuxSocket: "/u",
	}
	if got, err := ParseOrder(order.Encode()); err != nil || !reflect.DeepEqual(got, order) {
		t.Errorf("order %+v, %v", got, err)
	}
	state := State{Signal: 20, Code: 3, Foreground: true, Termios: order.Termios}
	if got, err := ParseState(state.Encode()); err != nil || !reflect.DeepEqual(got, state) {
		t.Errorf("state %+v, %v", got, err)
	}
	status := Status{1, "id", 2, 3, 4, 5, Size{6, 7, 8, 9}, true, true}
	if got, err := ParseStatus(status.Encode()); err != nil || got != status {
		t.Errorf("status %+v, %v", got, err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(Append(Append(nil, Hello, Greet(Control)), Ask, nil))
	f.Add([]byte{'o', 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) > 100_000 {
			return
		}
		a, b := pair(t)
		if len(stream) > 0 {
			if _, err := unix.Write(a, stream); err != nil {
				t.Fatal(err)
			}
		}
		_ = unix.Shutdown(a, unix.SHUT_WR)
		var r Reader
		for {
			kind, payload, err := r.Wait(b)
			if err != nil {
				if len(stream) >= HeadBytes && errors.Is(err, ErrTooLong) && r.write-r.read < HeadBytes {
					t.Error("told of a frame that is not there")
				}
				return
			}
			_, _ = ParseGreeting(payload)
			_, _ = ParseOrder(payload)
			_, _ = ParseState(payload)
			_, _ = ParseStatus(payload)
			_ = kind
		}
	})
}
