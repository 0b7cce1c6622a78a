package reopen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
)

// Desk is what getting back needs: the sessions as they are now, and where to
// find what starts them.
type Desk struct {
	Store *ledger.Store
	View  *observe.View
	// Profiles tells what a runtime is.
	Profiles func(runtime string) runtimes.Profile
	ShimDir  string
	// Env is the asking terminal's environment.
	Env []string
	// Answers tells whether the host at a socket can be reached.
	Answers func(socket string) bool
	// Settle saves a dead session's uncommitted work before anyone goes on in
	// its folder.
	Settle func(ctx context.Context, id string) error
	// Environ puts what a session's user keeps for its next opening into its
	// environment. nil: nothing is kept.
	Environ func(e *ledger.Entry, p runtimes.Profile, env []string) ([]string, error)
}

// Plan decides how to get back into one of the view's sessions.
func (d Desk) Plan(s *observe.Session) Plan { return Decide(d.facts(s)) }

func (d Desk) facts(s *observe.Session) Facts {
	e := s.Entry
	f := Facts{
		Entry: e, Class: s.Classification,
		Inside: s.State.Alive() && isAbove(s.Process), LiveConversation: d.liveConversation(s), ResumedBy: s.ResumedBy(), Claimed: Claimed(e),
		Folder: folderOf(e), CanResume: d.Profiles(e.Runtime).CanResume(), HasShim: isProgram(filepath.Join(d.ShimDir, e.Runtime)),
	}
	if socket := ledger.Value(e.HostSocket); socket != "" && s.State.Alive() {
		f.HostAnswers = d.Answers(socket)
	}
	return f
}

// isAbove tells whether a process is an ancestor of this one, by its identity.
func isAbove(id process.Identity) bool {
	for st := range process.Ancestors(os.Getpid()) {
		if st.PID == id.PID && st.StartTicks == id.StartTicks {
			return true
		}
	}
	return false
}

// liveConversation is another session that runs and carries s's conversation.
func (d Desk) liveConversation(s *observe.Session) string {
	if s.Entry.SessionID == nil {
		return ""
	}
	for _, other := range d.View.Sessions {
		if other.Entry.LedgerID != s.Entry.LedgerID && other.State.Alive() && other.Entry.Runtime == s.Entry.Runtime &&
			ledger.Value(other.Entry.SessionID) == *s.Entry.SessionID {
			return other.Entry.LedgerID
		}
	}
	return ""
}

func folderOf(e *ledger.Entry) Folder {
	dir := ledger.Value(e.CWD)
	if dir == "" {
		return FolderUnknown
	}
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return FolderGone
	case err != nil || !st.IsDir() || unix.Access(dir, unix.X_OK) != nil:
		return FolderUnusable
	}
	return FolderThere
}

func isProgram(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil
}

// Resumption is the start that goes on with a session's conversation, or, for a
// plan that offers a fresh one, begins anew in its place. The session is
// claimed for this process and its uncommitted work is safe when it returns;
// warning tells what of the folder's environment is missing.
func (d Desk) Resumption(ctx context.Context, e *ledger.Entry, action Action) (s Start, warning, err error) {
	var args []string
	profile := d.Profiles(e.Runtime)
	if action == Resume {
		if args, err = profile.Resume(*e.SessionID, e.Flags); err != nil {
			return Start{}, nil, fmt.Errorf("resume session %s: %w", e.LedgerID, err)
		}
	}
	self, err := process.Self()
	if err != nil {
		return Start{}, nil, err
	}
	if err := Claim(d.Store, e.LedgerID, self); err != nil {
		return Start{}, nil, err
	}
	if err := d.Settle(ctx, e.LedgerID); err != nil {
		warning = fmt.Errorf("the uncommitted work of session %s is not saved yet: %w", e.LedgerID, err)
	}
	s, missing := StartIn(ctx, d.ShimDir, e.Runtime, args, d.Env, ledger.Value(e.CWD))
	s = s.Continue(e, profile)
	if d.Environ != nil {
		var unread error
		if s.Env, unread = d.Environ(e, profile, s.Env); unread != nil {
			missing = errors.Join(missing, unread)
		}
	}
	return s, errors.Join(warning, missing), nil
}

// Exec makes this process the start: the shim, and through it the CLI. It
// returns only on failure.
func (s Start) Exec() error {
	if err := os.Chdir(s.Dir); err != nil {
		return fmt.Errorf("go to the session's folder: %w", err)
	}
	return fmt.Errorf("start %s: %w", s.Path, unix.Exec(s.Path, s.Argv, s.Env))
}
