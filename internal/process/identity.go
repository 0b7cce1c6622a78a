package process

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"
)

// Identity is one process of one boot, immune to pid reuse.
type Identity struct {
	BootID     string
	PID        int
	StartTicks uint64
}

// Key is the contract's processKey: bootId:pid:pidStartTicks.
func (id Identity) Key() string {
	return id.BootID + ":" + strconv.Itoa(id.PID) + ":" + strconv.FormatUint(id.StartTicks, 10)
}

// Alive tells whether that very process still runs. A zombie does not: it has
// ended and only waits to be told so. An error means that it could not be told.
func (id Identity) Alive() (bool, error) {
	boot, err := BootID()
	if err != nil {
		return false, err
	}
	if boot != id.BootID {
		return false, nil
	}
	st, err := ReadStat(id.PID)
	if errors.Is(err, ErrGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return st.StartTicks == id.StartTicks && st.State != 'Z' && st.State != 'X', nil
}

// Self is this process's own identity.
func Self() (Identity, error) { return Of(os.Getpid()) }

// Of is the identity of the process that has pid now.
func Of(pid int) (Identity, error) {
	boot, err := BootID()
	if err != nil {
		return Identity{}, err
	}
	st, err := ReadStat(pid)
	if err != nil {
		return Identity{}, err
	}
	return Identity{BootID: boot, PID: pid, StartTicks: st.StartTicks}, nil
}

// BootID is the kernel's random id of this boot.
func BootID() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// BootTime is when this boot began, from btime of /proc/stat, to the second.
// It moves when the clock is stepped, as every start time derived from it does.
func BootTime() (time.Time, error) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, fmt.Errorf("read the boot time: %w", err)
	}
	_, after, ok := bytes.Cut(raw, []byte("\nbtime "))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	sec, err := strconv.ParseInt(string(line), 10, 64)
	if !ok || err != nil {
		return time.Time{}, fmt.Errorf("read the boot time: no btime in /proc/stat")
	}
	return time.Unix(sec, 0).UTC(), nil
}

// StartTime is the birth of a process in UTC: boot time and start ticks.
func StartTime(boot time.Time, startTicks uint64) time.Time {
	return boot.Add(time.Duration(startTicks) * (time.Second / TicksPerSecond))
}

// MaxDepth bounds a walk up the ancestors.
const MaxDepth = 64

// Ancestors are the stats of a process's parent, grandparent and so on, nearest
// first, up to and with pid 1, each read when it is asked for. It stops where
// one cannot be read.
func Ancestors(pid int) iter.Seq[Stat] {
	return func(yield func(Stat) bool) {
		st, err := ReadStat(pid)
		for range MaxDepth {
			if err != nil || st.PPID <= 0 {
				return
			}
			if st, err = ReadStat(st.PPID); err != nil || !yield(st) {
				return
			}
		}
	}
}
