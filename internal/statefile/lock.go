package statefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// ErrLocked is returned when another process kept a lock longer than the
// caller would wait.
var ErrLocked = errors.New("locked by another process")

// retryDelay is how often a held lock is tried again: short beside the 250 ms
// that a launch may wait, long beside an update's 100 µs.
const retryDelay = 2 * time.Millisecond

// Lock is an exclusive advisory lock on a file of its own. The kernel drops it
// when its process ends, however it ends.
type Lock struct{ file *flock.Flock }

// Acquire takes the lock at path, making the file where it is absent, and
// waits at most wait for it (0: tries once). It fails with ErrLocked.
func Acquire(path string, wait time.Duration) (*Lock, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	for {
		l, err := acquireOnce(ctx, path)
		if err != nil {
			return nil, err
		}
		if l.current(path) {
			return l, nil
		}
		// Whoever held it removed the file: the lock is on a name that is gone.
		l.Release()
	}
}

func acquireOnce(ctx context.Context, path string) (*Lock, error) {
	if err := failing("lock", path); err != nil {
		return nil, err
	}
	f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC), flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err == nil && !ok {
		ok, err = f.TryLockContext(ctx, retryDelay)
	}
	if errors.Is(err, context.DeadlineExceeded) || (err == nil && !ok) {
		return nil, fmt.Errorf("lock %s: %w", path, ErrLocked)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{file: f}, nil
}

func (l *Lock) current(path string) bool {
	held, err := l.file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(held, named)
}

// Release gives the lock up. The file stays.
func (l *Lock) Release() { _ = l.file.Unlock() }

// Discard removes the lock's file and gives the lock up: for an entry that is
// being removed. Others who wait on it notice and make it anew.
func (l *Lock) Discard() {
	_ = os.Remove(l.file.Path())
	l.Release()
}
