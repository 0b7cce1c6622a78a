package process

import (
	"bytes"
	"fmt"
	"strconv"
)

// Waiting is the set of signals, bit n-1 for signal n, that were sent to a
// process and that it will act on when it next runs: a stopped process does not.
// It fails with ErrGone for no such process.
func Waiting(pid int) (uint64, error) {
	raw, err := readProc(pid, "status")
	if err != nil {
		return 0, err
	}
	var shared, own, blocked, ignored uint64
	for key, set := range map[string]*uint64{"\nShdPnd:\t": &shared, "\nSigPnd:\t": &own, "\nSigBlk:\t": &blocked, "\nSigIgn:\t": &ignored} {
		_, rest, _ := bytes.Cut(raw, []byte(key))
		value, _, _ := bytes.Cut(rest, []byte("\n"))
		if *set, err = strconv.ParseUint(string(value), 16, 64); err != nil {
			return 0, fmt.Errorf("read the signals of process %d: %w", pid, err)
		}
	}
	return (shared | own) &^ blocked &^ ignored, nil
}
