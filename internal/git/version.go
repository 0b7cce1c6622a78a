package git

import (
	"context"
	"fmt"
)

// Version is git's own version, major and minor.
type Version struct{ Major, Minor int }

// AtLeast says whether v is major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// Version asks git for its version, once in the life of the runner.
func (r *Runner) Version(ctx context.Context) (Version, error) {
	r.probing.Lock()
	defer r.probing.Unlock()
	if r.version != (Version{}) {
		return r.version, nil
	}
	out, err := r.Run(ctx, Command{Dir: "/", Args: []string{"version"}})
	if err != nil {
		return Version{}, err
	}
	var v Version
	if _, err := fmt.Sscanf(string(out), "git version %d.%d", &v.Major, &v.Minor); err != nil {
		return Version{}, fmt.Errorf("git says %q where its version was asked for", out)
	}
	r.version = v
	return v, nil
}

// Durable gives the configuration under which git flushes loose objects to the disk before it goes on: packs it
// always flushes.
func (r *Runner) Durable(ctx context.Context) ([]string, error) {
	v, err := r.Version(ctx)
	if err != nil {
		return nil, err
	}
	if v.AtLeast(2, 36) {
		return []string{"core.fsync=committed,reference"}, nil
	}
	return []string{"core.fsyncObjectFiles=true"}, nil
}
