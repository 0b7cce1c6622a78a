package host

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/wire"
	"agentwrap/internal/ledger"
)

// ended takes the CLI's exit status. The terminals leave when they have shown its last byte and the status is
// in the entry, for which they wait only recordWait.
func (h *holder) ended(status syscall.WaitStatus) {
	h.cli.ended, h.cli.stopped = true, false
	h.cli.end = wire.State{Code: status.ExitStatus(), Termios: h.termios()}
	if status.Signaled() {
		h.cli.end.Code, h.cli.end.Signal = 0, int(status.Signal())
	}
	finished := time.Now()
	h.work.Go(func() { h.recordEnd(finished) })
	h.behindOutput(func() {
		h.shown = true
		h.mail.after(recordWait, h.recordTried)
		h.finish()
	})
}

// recordWait is how long the terminals wait for the exit status to be in the entry: whoever looks when the
// CLI is gone finds it there, unless the disk is slow.
const recordWait = 100 * time.Millisecond

func (h *holder) recordTried() {
	h.tried = true
	h.finish()
}

// hungUp is the end of the CLI's terminal: every process that had it is gone.
func (h *holder) hungUp() { h.over = true }

// finish tells the terminals, once; the loop ends when all have been told.
func (h *holder) finish() {
	if h.finished || !h.shown || !h.tried {
		return
	}
	h.finished = true
	h.giveForeground(os.Getpid()) // this process's end must not hang up on what the CLI left running
	h.unlinkSockets()
	unix.Close(h.listener)
	h.listener = -1
	for _, c := range h.clients {
		if c.shows {
			c.send(wire.Exited, h.cli.end.Encode())
		}
	}
}

// unlinkSockets removes the session's sockets: tmux leaves its own behind.
func (h *holder) unlinkSockets() {
	_ = unix.Unlink(h.order.Socket)
	if h.inPane {
		_ = unix.Unlink(h.order.TmuxSocket)
	}
}

// How long recordEnd waits between its tries, and when it gives up.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = time.Minute
	giveUpAfter  = 24 * time.Hour
)

// recordEnd writes the exit status into the session's entry, however long that takes: it is seen here alone.
func (h *holder) recordEnd(finished time.Time) {
	for pause := firstPause; time.Since(finished) < giveUpAfter; pause = min(2*pause, longestPause) {
		err := h.store.Update(h.order.LedgerID, ledger.Durable(time.Second), func(e *ledger.Entry) error {
			return noteEnd(e, h.cli.child.PID, h.cli.end, finished)
		})
		h.mail.post(h.recordTried)
		if err == nil || errors.Is(err, ledger.ErrNoSession) || errors.Is(err, ledger.ErrDamaged) || errors.Is(err, ledger.ErrNewer) {
			return
		}
		time.Sleep(pause)
	}
}

// noteEnd puts an exit status into an entry. A clean exit closes it; where the CLI's own word came first, in
// its hook, that stands. Any other end leaves it open: that work may be lost.
func noteEnd(e *ledger.Entry, pid int, end wire.State, finished time.Time) error {
	if ledger.Value(e.PID) != pid {
		return ledger.ErrUnchanged // another process has taken the session over
	}
	e.ExitStatus = &ledger.ExitStatus{Code: ledger.Ptr(end.Code)}
	e.HostSocket, e.Mux, e.TmuxSession, e.TmuxSocket = nil, ledger.Mux{}, nil, nil
	switch {
	case end.Signal != 0:
		e.ExitStatus = &ledger.ExitStatus{Signal: ledger.Ptr(end.Signal)}
		if e.FinishedAt == nil && ledger.Value(e.EndedBy) != ledger.EndedByUser { // not stopped by its user
			e.EndedBy = ledger.Ptr(ledger.EndedByLoss)
		}
	case end.Code == 0 && e.FinishedAt == nil:
		e.FinishedAt, e.FinishReason = ledger.At(finished), ledger.Ptr("exited")
		e.EndedBy = ledger.Ptr(ledger.EndedByUser)
	}
	return nil
}
