package host

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
)

// maxSocketPath is what fits into sockaddr_un beside its final NUL.
const maxSocketPath = 107

// holderSuffix makes a session's holder socket out of its tmux socket.
const holderSuffix = ".io"

// ErrGone is wrapped by the error for a holder that is not there, or not any more.
var ErrGone = errors.New("the session's host is gone")

// sockets are the paths of a new session's sockets. Where those of the contract are too long for the kernel
// they have short names under $XDG_RUNTIME_DIR, else in a folder of this user's own below /tmp.
func sockets(store *ledger.Store, id string, env []string) (tmux, holder string, err error) {
	tmux = store.SocketPath(id)
	if len(tmux)+len(holderSuffix) > maxSocketPath {
		tmux, err = shortPath(tmux, env)
		if err != nil {
			return "", "", err
		}
	}
	if err := statefile.MakeDir(filepath.Dir(tmux)); err != nil {
		return "", "", fmt.Errorf("make the folder of sockets: %w", err)
	}
	return tmux, tmux + holderSuffix, nil
}

// shortPath is a name for path that follows from it alone.
func shortPath(path string, env []string) (string, error) {
	sum := fnv.New64a()
	sum.Write([]byte(path))
	name := fmt.Sprintf("%016x", sum.Sum64())
	runtime := filepath.Join(lookup(env, "XDG_RUNTIME_DIR"), "agentwrap", name)
	if filepath.IsAbs(runtime) && len(runtime)+len(holderSuffix) <= maxSocketPath && private(filepath.Dir(filepath.Dir(runtime))) {
		return runtime, nil
	}
	parent := "/tmp"
	var st unix.Stat_t
	if err := unix.Lstat(parent, &st); err != nil || st.Uid != 0 || st.Mode&0o002 != 0 && st.Mode&unix.S_ISVTX == 0 {
		return "", fmt.Errorf("no safe place for the socket of %s: its path is over %d bytes, XDG_RUNTIME_DIR is no folder of this user's, and others can rename files in %s", path, maxSocketPath, parent)
	}
	// The folder itself is checked by MakeDir: one that another user planted is refused.
	return filepath.Join(parent, fmt.Sprintf("agentwrap-%d", os.Geteuid()), name), nil
}

// private tells whether dir is a folder of this user's that no one else may enter.
func private(dir string) bool {
	var st unix.Stat_t
	return unix.Lstat(dir, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && int(st.Uid) == os.Geteuid() && st.Mode&0o077 == 0
}

// lookup is the first value of a variable, "" for none.
func lookup(env []string, name string) string {
	for _, item := range env {
		if key, value, ok := strings.Cut(item, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// listen makes a socket at path that only this user can reach.
func listen(path string) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("make socket %s: %w", path, err)
	}
	if err := errors.Join(unix.Chmod(path, 0o600), unix.Listen(fd, 16)); err != nil {
		unix.Close(fd)
		return -1, errors.Join(fmt.Errorf("listen at %s: %w", path, err), unix.Unlink(path))
	}
	return fd, nil
}

// connect reaches the socket at path and proves that this user's process listens there.
func connect(path string) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make socket: %w", err)
	}
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	if err == nil {
		err = checkPeer(fd)
	}
	if err == nil {
		return fd, nil
	}
	unix.Close(fd)
	if err == unix.ENOENT || err == unix.ECONNREFUSED {
		err = ErrGone
	}
	return -1, fmt.Errorf("reach %s: %w", path, err)
}

// accept takes the next connection of this user's. One of another user's is closed and told as an error.
func accept(listener, flags int) (int, error) {
	for {
		fd, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC|flags)
		if err == unix.EINTR || err == unix.ECONNABORTED {
			continue
		}
		if err != nil {
			return -1, err
		}
		if err := checkPeer(fd); err != nil {
			unix.Close(fd)
			return -1, err
		}
		return fd, nil
	}
}

func checkPeer(fd int) error {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return err
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("process %d there belongs to user %d", peer.Pid, peer.Uid)
	}
	return nil
}
