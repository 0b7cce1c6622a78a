package rescue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"agentwrap/internal/git"
)

// Snap is one snapshot as a repository holds it.
type Snap struct {
	Ref, Commit string
	// Live says that it was taken while the session went on.
	Live bool
	// Repository is a folder in which git finds it: the main checkout, or the
	// shared git folder.
	Repository string
	Told
}

// ErrUnknown is that a repository has no such snapshot.
var ErrUnknown = errors.New("no such snapshot")

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
	return snaps, nil
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
