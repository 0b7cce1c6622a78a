package become

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Limit is one resource limit as getrlimit(2) tells it.
type Limit struct {
	Resource int // RLIMIT_*
	Soft     uint64
	Hard     uint64
}

// resources is the number of RLIMIT_* of Linux, numbered from 0 without a gap.
const resources = unix.RLIMIT_RTTIME + 1

func startLimits() []Limit {
	limits := make([]Limit, 0, resources)
	for resource := range resources {
		var now unix.Rlimit
		if unix.Prlimit(0, resource, nil, &now) != nil {
			continue
		}
		if resource == unix.RLIMIT_NOFILE && entryRan {
			now = entryFiles
		}
		limits = append(limits, Limit{Resource: resource, Soft: now.Cur, Hard: now.Max})
	}
	return limits
}

// apply sets the limit where it differs. Open files go through package syscall even when they are equal:
// syscall.Exec would otherwise put back the soft limit that this process was started with.
func (l Limit) apply() {
	want := unix.Rlimit{Cur: l.Soft, Max: l.Hard}
	if l.Resource == unix.RLIMIT_NOFILE {
		_ = syscall.Setrlimit(l.Resource, &syscall.Rlimit{Cur: l.Soft, Max: l.Hard})
		return
	}
	var now unix.Rlimit
	if unix.Prlimit(0, l.Resource, nil, &now) == nil && now != want {
		_ = unix.Prlimit(0, l.Resource, &want, nil)
	}
}
