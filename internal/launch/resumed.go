package launch

import (
	"time"

	"agentwrap/internal/ledger"
)

// resumedFromVar names the row that a resume continues, for one launch alone.
const resumedFromVar = "AGENTWRAP_RESUMED_FROM"

// resumed is the session that this launch goes on with, nil for none.
func (l *launch) resumed() *string {
	if from := l.env.get(resumedFromVar); ledger.ValidID(from) {
		return ledger.Ptr(from)
	}
	return nil
}

// closeResumed closes the session that this one goes on with.
func (l *launch) closeResumed() {
	from := ledger.Value(l.entry.ResumedFrom)
	if from == "" || !l.recorded {
		return
	}
	err := l.store.Update(from, ledger.Durable(lockWait), func(e *ledger.Entry) error {
		e.ResumedBy, e.ResumeClaim = ledger.Ptr(l.entry.LedgerID), nil
		if e.FinishedAt == nil {
			e.FinishedAt, e.FinishReason = ledger.At(time.Now()), ledger.Ptr("resumed as "+l.entry.LedgerID)
		}
		return nil
	})
	if err != nil {
		l.warn("the session this one goes on with stays open: " + err.Error())
	}
}

// reopenResumed takes closeResumed back, for a session that never was.
func (l *launch) reopenResumed() {
	from := ledger.Value(l.entry.ResumedFrom)
	if from == "" {
		return
	}
	err := l.store.Update(from, ledger.Durable(lockWait), func(e *ledger.Entry) error {
		if ledger.Value(e.ResumedBy) != l.entry.LedgerID {
			return ledger.ErrUnchanged
		}
		e.ResumedBy = nil
		if ledger.Value(e.FinishReason) == "resumed as "+l.entry.LedgerID {
			e.FinishedAt, e.FinishReason = nil, nil
		}
		return nil
	})
	if err != nil {
		l.warn("the session this one was to go on with stays closed: " + err.Error())
	}
}
