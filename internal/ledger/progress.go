package ledger

import "time"

// progress tells whether a running session moves, and by what. The ticks speak
// only for a session without a transcript: a CLI that waits at its prompt burns
// them too.
func progress(e *Entry, f Facts) (bool, string) {
	last, what := lastProgress(e, f)
	age := f.Now.Sub(last)
	switch {
	case !last.IsZero() && age < -ClockSlack:
		return false, what + " lies in the future"
	case !last.IsZero() && age <= IdleAfter:
		return true, what + " " + ago(age) + " ago"
	case ticksSpeak(e, f) && f.CPU.Compared && f.CPU.Grew:
		return true, "cpu ticks accumulating"
	case last.IsZero():
		return false, "no progress seen yet"
	}
	return false, "no progress for " + ago(age)
}

func ticksSpeak(e *Entry, f Facts) bool { return f.Transcript == nil && e.TranscriptPath == nil }

// lastProgress is the latest sign of work and what it was: the transcript's
// growth, a hook's heartbeat, or the ticks that a sweep saw grow. A time to
// come (the clock was set back) counts only where there is no other.
func lastProgress(e *Entry, f Facts) (last time.Time, what string) {
	take := func(t time.Time, name string) {
		future, held := t.After(f.Now.Add(ClockSlack)), last.After(f.Now.Add(ClockSlack))
		if last.IsZero() || held && !future || future == held && t.After(last) {
			last, what = t, name
		}
	}
	if e.LastHeartbeat != nil {
		take(e.LastHeartbeat.Time, "last event")
	}
	if f.Transcript != nil {
		take(f.Transcript.ModTime, "transcript grew")
	} else if e.LastActiveAt != nil {
		take(e.LastActiveAt.Time, "cpu ticks grew")
	}
	return last, what
}

// lastActive is what lists show: the last progress, the start where there was
// none, never a time to come.
func lastActive(e *Entry, f Facts) *Stamp {
	last, _ := lastProgress(e, f)
	switch {
	case last.IsZero():
		return e.StartedAt
	case last.After(f.Now):
		return At(f.Now)
	}
	return At(last)
}

// SampleHelps tells whether a second reading of the cpu ticks could change the
// session's state: only for one that runs without a transcript, is not
// detached, shows no progress and has no reading to compare with.
func SampleHelps(e *Entry, f Facts) bool {
	if e.FinishedAt != nil || f.Process.Presence != Running || f.CPU.Compared || f.detached() || !ticksSpeak(e, f) {
		return false
	}
	worked, _ := progress(e, f)
	return !worked
}
