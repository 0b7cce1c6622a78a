package stop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
)

// handle is a process that cannot be taken for another one, whatever becomes of
// its pid.
type handle struct {
	id process.Identity
	fd int
}

// open opens a handle on a process, nil where it is gone. The start ticks are
// read after the handle is there: if they fit, the handle is on that process.
func open(id process.Identity) (*handle, error) {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", id.PID, err)
	}
	st, err := process.ReadStat(id.PID)
	if err == nil && st.StartTicks == id.StartTicks {
		return &handle{id: id, fd: fd}, nil
	}
	unix.Close(fd)
	if err != nil && !errors.Is(err, process.ErrGone) {
		return nil, err
	}
	return nil, nil
}

func (h *handle) close() { unix.Close(h.fd) }

// signal sends a signal, and SIGCONT behind it to a stopped process, which
// would not act on it before. One that is gone needs none.
func (h *handle) signal(s unix.Signal) error {
	signals := []unix.Signal{s}
	if st, err := process.ReadStat(h.id.PID); err == nil && st.State == 'T' && st.StartTicks == h.id.StartTicks {
		signals = append(signals, unix.SIGCONT)
	}
	for _, s := range signals {
		if err := unix.PidfdSendSignal(h.fd, s, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("send %s to process %d: %w", unix.SignalName(s), h.id.PID, err)
		}
	}
	return nil
}

// cancelCheck is how often a wait looks whether it was cancelled.
const cancelCheck = 200 * time.Millisecond

// waitFor waits until all the processes have ended or the time is over, which
// is told by all.
func waitFor(ctx context.Context, handles []*handle, until time.Time) (all bool, err error) {
	waiting := make([]unix.PollFd, 0, len(handles))
	for _, h := range handles {
		waiting = append(waiting, unix.PollFd{Fd: int32(h.fd), Events: unix.POLLIN})
	}
	for len(waiting) > 0 {
		left := time.Until(until)
		if left <= 0 {
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		_, err := unix.Poll(waiting, int(min(left, cancelCheck)/time.Millisecond)+1)
		if err != nil && err != unix.EINTR {
			return false, fmt.Errorf("wait for processes to end: %w", err)
		}
		rest := waiting[:0]
		for _, w := range waiting {
			if w.Revents == 0 {
				rest = append(rest, unix.PollFd{Fd: w.Fd, Events: unix.POLLIN})
			}
		}
		waiting = rest
	}
	return true, nil
}
