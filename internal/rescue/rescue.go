// Package rescue keeps the uncommitted work of a session whose process is gone:
// it puts what is on disk into a commit under refs/rescued/ and gives it back.
// The sweep, the rescue command and the views use it (docs/rescue.md).
//
// A snapshot only ever adds objects and one ref. The working tree, the index,
// HEAD, the stash and the branches are never touched, no program that the
// repository names is started, and nothing is called saved before it has been
// read back from the object store and compared with the disk.
package rescue

import (
	"time"
)

// Where the refs stand. A live session's snapshot has one more element, its time.
const (
	refPrefix     = "refs/rescued/"
	livePrefix    = "refs/rescued-live/"
	nestedPrefix  = "refs/rescued-nested/"
	liveTimeStamp = "20060102T150405.000Z"
)

// The caps that stand where the user's settings name no others.
const (
	DefaultFileLimit  = 100 << 20
	DefaultTotalLimit = 1 << 30
)

// Limits are the caps of one snapshot, in bytes.
type Limits struct {
	// File is the largest file that is saved, Total the most that is saved of
	// all files together.
	File, Total int64
}

// Request says whose work to save, and what the commit message tells of it.
type Request struct {
	// LedgerID names the ref.
	LedgerID string
	// CWD is the session's folder. Where it is gone, Root is looked at instead:
	// the top of its working tree as recorded.
	CWD, Root string
	// Title, Branch and Host are told in the message, as recorded.
	Title, Branch, Host string
	// Shared says that other live sessions stand in the same working tree.
	Shared bool
	// Live makes it a snapshot by hand, of a session that goes on: a ref of its
	// own with the time in its name, as many as one likes.
	Live bool
	// Now dates the commit.
	Now time.Time
	// Limits are the caps; a zero one is the default.
	Limits Limits
}

// Outcome is how a snapshot ended where it did not fail.
type Outcome int

const (
	// Saved: the work is under Ref.
	Saved Outcome = iota
	// Clean: nothing was uncommitted.
	Clean
	// NoTree: the folder is in no git repository, or in one without a working
	// tree.
	NoTree
	// Gone: the folder is not there, nor the top of its working tree. It may be
	// on a disk that is not mounted, so the edge is not to be marked.
	Gone
)

// Result is what a snapshot came to.
type Result struct {
	Outcome Outcome
	// Why says, for NoTree and Gone, what was found.
	Why string
	// Ref and Commit name the snapshot.
	Ref, Commit string
	// Paths are what the snapshot holds beyond its parent, deletions included,
	// relative to the top of the working tree, in git's order.
	Paths []string
	// Skipped could not be saved; Raw was saved byte for byte where git would
	// have stored a converted form.
	Skipped, Raw []Note
	// Nested are repositories inside the working tree that have a ref of their own.
	Nested []Nested
	// Repository is the shared git folder that holds the ref, Main the main
	// checkout, "" where the repository has none.
	Repository, Main string
	// Known says that the ref was there already: an earlier try got that far.
	Known bool
}

// Note is a path with what is to be said of it.
type Note struct{ Path, Why string }

// Nested is the snapshot of a repository inside the working tree.
type Nested struct{ Path, Ref, Commit string }
