package process

import "testing"

func TestMachine(t *testing.T) {
	const one, other = "0123456789abcdef0123456789abcdef\n", "0123456789abcdef0123456789abcdee\n"
	if a, b := machineOf([]byte(one)), machineOf([]byte(other)); len(a) != 16 || a == b || a != machineOf([]byte(one[:32])) {
		t.Errorf("%q, %q", a, b)
	}
	for _, none := range []string{"", "\n", "uninitialized\n"} {
		if got := machineOf([]byte(none)); got != "" {
			t.Errorf("%q: %q", none, got)
		}
	}
}
