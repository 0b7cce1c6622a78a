package process

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/statefile"
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

// ParseKey is the identity of a processKey.
func ParseKey(key string) (Identity, error) {
	boot, rest, _ := strings.Cut(key, ":")
	pid, ticks, ok := strings.Cut(rest, ":")
	id := Identity{BootID: boot}
	var perr, terr error
	id.PID, perr = strconv.Atoi(pid)
	id.StartTicks, terr = strconv.ParseUint(ticks, 10, 64)
	if !ok || boot == "" || perr != nil || terr != nil || id.PID <= 0 {
		return Identity{}, fmt.Errorf("%.80q is not bootId:pid:startTicks", key)
	}
	return id, nil
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
	raw, err := statefile.Read("/proc/sys/kernel/random/boot_id", procLimit)
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// StartTime is the birth of a process of this boot in UTC: what /proc/stat's
// btime and its start ticks give, from the clocks that the kernel takes btime
// from, since reading /proc/stat costs a line for every cpu and interrupt. It
// moves when the clock is stepped, as btime does.
func StartTime(startTicks uint64) time.Time {
	var sinceBoot unix.Timespec
	// CLOCK_BOOTTIME has no way to fail on a kernel that has start ticks in it.
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &sinceBoot)
	age := time.Duration(sinceBoot.Nano()) - time.Duration(startTicks)*(time.Second/TicksPerSecond)
	return time.Now().UTC().Add(-age)
}

// MaxDepth bounds a walk up the ancestors.
const MaxDepth = 64

// Ancestors are the stats of a process's parent, grandparent and so on, nearest
// first, up to and with pid 1, each read when it is asked for. It stops where
// one cannot be read.
func Ancestors(pid int) iter.Seq[Stat] {
	st, err := ReadStat(pid)
	if err != nil {
		return func(func(Stat) bool) {}
	}
	return Above(st)
}

// Above is Ancestors for a process whose stat was read already.
func Above(st Stat) iter.Seq[Stat] {
	return func(yield func(Stat) bool) {
		for range MaxDepth {
			if st.PPID <= 0 {
				return
			}
			var err error
			if st, err = ReadStat(st.PPID); err != nil || !yield(st) {
				return
			}
		}
	}
}

// All are the stats of all processes now. One that ends meanwhile is left out.
func All() ([]Stat, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var all []Stat
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if st, err := ReadStat(pid); err == nil {
			all = append(all, st)
		} else if !errors.Is(err, ErrGone) {
			return nil, err
		}
	}
	return all, nil
}
