package tlv

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func collect(message []byte) (got []string, err error) {
	err = Each(message, func(t Type, value []byte) error {
		got = append(got, fmt.Sprintf("%d=%q", t, value))
		return nil
	})
	return got, err
}

func TestEachGivesFieldsInOrder(t *testing.T) {
	var m Message
	m.String(1, "")
	m.Strings(2, []string{"a\x00b", "\xff"})
	m.Bool(3, false)
	m.Bool(4, true)
	m.Bytes(65535, []byte("last"))
	got, err := collect(m)
	want := []string{`1=""`, `2="a\x00b"`, `2="\xff"`, `4=""`, `65535="last"`}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestIntsKeepTheirSign(t *testing.T) {
	for _, want := range []int64{0, -1, 1 << 62, -1 << 63} {
		var m Message
		m.Int(7, want)
		var got int64
		err := Each(m, func(_ Type, value []byte) error { return SetInt(&got, value) })
		if err != nil || got != want {
			t.Errorf("got %d, %v; want %d", got, err, want)
		}
	}
	var n int
	if err := SetInt(&n, []byte{1}); !errors.Is(err, ErrTorn) {
		t.Errorf("an int of one byte: %v, want ErrTorn", err)
	}
}

func FuzzEach(f *testing.F) {
	var m Message
	m.String(1, "x")
	m.Int(2, 3)
	f.Add([]byte(m))
	f.Add([]byte{1, 0, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var again Message
		err := Each(raw, func(t Type, value []byte) error {
			again.Bytes(t, value)
			return nil
		})
		if err == nil && string(again) != string(raw) {
			t.Errorf("%q was read and written as %q", raw, again)
		}
	})
}
