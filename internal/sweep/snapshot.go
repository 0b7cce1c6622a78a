package sweep

import (
	"context"
	"errors"
	"time"

	"agentwrap/internal/git"
	"agentwrap/internal/ledger"
	"agentwrap/internal/rescue"
	"agentwrap/internal/transcript"
)

// Snapshots is the Rescue that keeps uncommitted work under a ref of the
// repository it is in. Without git only what is in no repository can be dealt
// with.
func Snapshots(environ []string, limits rescue.Limits, now func() time.Time) Rescue {
	runner, absent := git.New(environ)
	return func(ctx context.Context, e *ledger.Entry, shared bool) (Saved, error) {
		switch {
		case absent != nil && e.RepoRoot == nil:
			return Saved{Looked: true}, nil
		case absent != nil:
			return Saved{}, absent
		case e.CWD == nil:
			return Saved{}, nil
		}
		result, err := rescue.Snapshot(ctx, runner, rescue.Request{
			LedgerID: e.LedgerID, CWD: *e.CWD, Root: ledger.Value(e.RepoRoot), Title: titleOf(e), Branch: ledger.Value(e.Branch),
			Host: ledger.Value(e.Host), Shared: shared, Now: now(), Limits: limits,
		})
		if errors.Is(err, git.ErrForeign) {
			// Another user's repository is not read, and stays as it is.
			return Saved{}, nil
		}
		if err != nil {
			return Saved{}, err
		}
		return savedOf(result), nil
	}
}

func savedOf(r rescue.Result) Saved {
	s := Saved{Looked: r.Outcome != rescue.Gone, Ref: r.Ref, Commit: r.Commit, Paths: r.Paths}
	for _, n := range r.Skipped {
		s.Skipped = append(s.Skipped, ledger.SkippedPath{Path: n.Path, Why: n.Why})
	}
	return s
}

// titleOf is what a session is called, for the snapshot's message.
func titleOf(e *ledger.Entry) string {
	if e.TranscriptPath == nil {
		return ""
	}
	d, err := transcript.Read(e.Runtime, *e.TranscriptPath)
	if err != nil {
		return "" // gone, or not readable: the snapshot goes without
	}
	return d.Title
}
