package cleanup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
)

// The lease table is another program's (docs/scratch.md, "Leases"): it is read
// and never written, locked or mended here.
const (
	leaseTable  = "table.json"
	leaseSchema = "openagents.lease.table.v1"
	leaseLimit  = 64 << 20 // bytes
)

type table struct {
	Schema string `json:"schema"`
	Leases *[]struct {
		ID     string `json:"id"`
		Holder struct {
			Session string `json:"session"`
		} `json:"holder"`
	} `json:"leases"`
}

// leased are the sessions that hold or wait for a lease: those of the table's
// leases whose holder lives. No table is no lease; one that cannot be read, or
// has another form, is an error.
func leased(root string) (map[string]bool, error) {
	path := filepath.Join(root, leaseTable)
	raw, err := statefile.Read(path, leaseLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the lease table cannot be read: %w", err)
	}
	var t table
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, fmt.Errorf("the lease table %s cannot be read: %w", path, err)
	}
	if t.Schema != leaseSchema || t.Leases == nil {
		return nil, fmt.Errorf("the lease table %s has schema %q, not %s", path, t.Schema, leaseSchema)
	}
	sessions := map[string]bool{}
	for _, lease := range *t.Leases {
		if !ledger.ValidID(lease.ID) || lease.Holder.Session == "" {
			return nil, fmt.Errorf("the lease table %s has a lease without a valid id or session", path)
		}
		if held(filepath.Join(root, "held", lease.ID+".lock")) {
			for _, name := range names(lease.Holder.Session) {
				sessions[name] = true
			}
		}
	}
	return sessions, nil
}

// held tells whether a lease's holder lives: it has its lock file, and the lock
// on it. What cannot be told counts as held.
func held(lock string) bool {
	fd, err := unix.Open(lock, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err != unix.ENOENT
	}
	defer unix.Close(fd)
	// A shared lock is kept out by the holder's, and keeps nobody else out for
	// longer than this call.
	if unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) != nil {
		return true
	}
	_ = unix.Flock(fd, unix.LOCK_UN)
	return false
}
