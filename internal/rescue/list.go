package rescue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"agentwrap/internal/git"
	"agentwrap/internal/ledger"
)

// Snap is one snapshot as a repository holds it.
type Snap struct {
	Ref, Commit string
	// Live says that it was taken by hand.
	Live bool
	// Paths are what it holds beyond its parent, deletions included.
	Paths []string
	// Repository is a folder in which git finds it: the main checkout, or the
	// shared git folder.
	Repository string
	Told
}

// ErrUnknown is that there is no such snapshot.
var ErrUnknown = errors.New("no uncommitted work of such a session was saved: 'agent-sessions rescue' shows what there is")

const snapFormat = "--format=%(refname)%00%(objectname)%00%(contents)%00"

// List gives the snapshots of the repository that dir is in, the newest first.
// dir may be a bare repository or a git folder.
func List(ctx context.Context, runner *git.Runner, dir string) ([]Snap, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, git.ErrNoDir)
	}
	out, err := runner.Run(ctx, git.Command{Dir: dir, NoIndex: true, Args: []string{
		"for-each-ref", "--sort=-committerdate", snapFormat, refPrefix, livePrefix,
	}})
	if err != nil {
		return nil, err
	}
	var snaps []Snap
	fields := bytes.Split(out, []byte{0})
	for n := 0; n+2 < len(fields); n += 3 {
		ref := strings.TrimPrefix(string(fields[n]), "\n")
		snaps = append(snaps, Snap{
			Ref: ref, Commit: string(fields[n+1]), Live: strings.HasPrefix(ref, livePrefix),
			Repository: dir, Told: readMessage(string(fields[n+2])),
		})
	}
	return snaps, readPaths(ctx, runner, dir, snaps)
}

func readPaths(ctx context.Context, runner *git.Runner, dir string, snaps []Snap) error {
	if len(snaps) == 0 {
		return nil
	}
	d, err := startDiffer(ctx, runner, dir)
	if err != nil {
		return err
	}
	defer d.close()
	for n := range snaps {
		if _, snaps[n].Paths, err = d.changes(snaps[n].Commit); err != nil {
			return err
		}
	}
	return nil
}

// Name is what a person calls a snapshot: its session's id, for one by hand with
// its time behind a slash.
func (s Snap) Name() string {
	return strings.TrimPrefix(strings.TrimPrefix(s.Ref, refPrefix), livePrefix)
}

// sessionID is the id of the session that a snapshot is of.
func (s Snap) sessionID() string {
	id, _, _ := strings.Cut(s.Name(), "/")
	return id
}

// Pick finds the snapshot that a person means, among the newest first: by its
// ref or name, or by a short form of its session's id ([ledger.Resolve]). Of
// several of one session it is the one of its death, else the newest.
func Pick(snaps []Snap, word string) (Snap, error) {
	var ids []string
	for _, s := range snaps {
		if s.Ref == word || s.Live && s.Name() == word {
			return s, nil
		}
		if !slices.Contains(ids, s.sessionID()) {
			ids = append(ids, s.sessionID())
		}
	}
	id, err := ledger.Resolve(ids, word)
	if errors.Is(err, ledger.ErrNoSession) {
		return Snap{}, fmt.Errorf("%q: %w", word, ErrUnknown)
	} else if err != nil {
		return Snap{}, err
	}
	of := slices.DeleteFunc(slices.Clone(snaps), func(s Snap) bool { return s.sessionID() != id })
	if death := slices.IndexFunc(of, func(s Snap) bool { return !s.Live }); death >= 0 {
		return of[death], nil
	}
	return of[0], nil
}

// Find gives the snapshot under ref in the repository that dir is in.
func Find(ctx context.Context, runner *git.Runner, dir, ref string) (Snap, error) {
	snaps, err := List(ctx, runner, dir)
	if err != nil {
		return Snap{}, err
	}
	for _, s := range snaps {
		if s.Ref == ref {
			return s, nil
		}
	}
	return Snap{}, fmt.Errorf("%s in %s: %w", ref, dir, ErrUnknown)
}
