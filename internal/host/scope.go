package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
	"agentwrap/internal/tmuxhost"
)

const (
	// scopeWait bounds one call to the user's manager; there are at most two.
	scopeWait = 5 * time.Second
	// silence is how long a CLI may write nothing until it is moved all the same.
	silence = time.Second
)

// scopeMover has the user's service manager move a session into a scope of its own.
type scopeMover struct {
	busctl string
	env    []string
	unit   string
}

// enterScope moves this process, its tmux server and the CLI into a scope of their own, where a user manager
// answers: the end of the scope they were started in, such as a login's, then ends none of them. It begins
// behind the CLI's first output, which it must not delay. Nothing waits for it, and nothing follows from its
// failure.
func (h *holder) enterScope(environ []string, server *tmuxhost.Server, begun <-chan struct{}) {
	mover, found := findScopeMover(environ, h.order.LedgerID)
	if !found {
		return
	}
	select {
	case <-begun:
	case <-time.After(silence):
	}
	pids := []int{os.Getpid(), h.cli.child.PID}
	if server != nil {
		// Its parent alone would not do: when the server is gone that is whoever adopts orphans.
		if pid, err := server.PID(); err == nil && pid == os.Getppid() {
			pids = append(pids, pid)
		}
	}
	if stat, err := process.ReadStat(h.cli.child.PID); err == nil && stat.StartTicks == h.cli.startTicks {
		_ = mover.move(pids)
	}
}

// ownServer is the tmux server that this process runs in, nil for none.
func (h *holder) ownServer() *tmuxhost.Server {
	if h.mirror == nil {
		return nil
	}
	server := h.mirror.server
	return &server
}

// findScopeMover tells how to reach the manager of the session's own user; found is false where there is none.
func findScopeMover(environ []string, ledgerID string) (mover scopeMover, found bool) {
	if mover.unit, found = scopeName(ledgerID); !found {
		return scopeMover{}, false
	}
	runtime := lookup(environ, "XDG_RUNTIME_DIR")
	if !filepath.IsAbs(runtime) || !managerSeesOurPIDs(filepath.Join(runtime, "systemd", "private")) {
		return scopeMover{}, false
	}
	var err error
	if mover.busctl, err = tmuxhost.FindProgram("busctl", lookup(environ, "PATH")); err != nil {
		return scopeMover{}, false
	}
	mover.env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "XDG_RUNTIME_DIR=" + runtime}
	if bus := lookup(environ, "DBUS_SESSION_BUS_ADDRESS"); bus != "" {
		mover.env = append(mover.env, "DBUS_SESSION_BUS_ADDRESS="+bus)
	}
	return mover, true
}

// managerSeesOurPIDs tells whether a manager of this user's listens at its private socket, in this PID
// namespace or one below: to one above, as seen from a container, our numbers are other processes.
func managerSeesOurPIDs(socket string) bool {
	fd, err := connect(socket)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	return err == nil && peer.Pid > 0
}

// move moves processes into the scope.
func (m scopeMover) move(pids []int) error {
	complaint, err := m.call(scopeArgs(m.unit, pids, true))
	if err != nil && bytes.Contains(complaint, []byte(oomPolicy)) {
		_, err = m.call(scopeArgs(m.unit, pids, false))
	}
	return err
}

// call runs busctl, bounded in time.
func (m scopeMover) call(args []string) (complaint []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), scopeWait+scopeWait/10)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.busctl, args...)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.Env, cmd.Dir, cmd.WaitDelay = &stderr, m.env, "/", scopeWait/10
	if err := cmd.Run(); err != nil {
		return stderr.Bytes(), fmt.Errorf("start %s: %w", m.unit, err)
	}
	return nil, nil
}

// oomPolicy is a property that systemd has for scopes only since 253.
const oomPolicy = "OOMPolicy"

// scopeArgs are the arguments of busctl that start a scope with processes in it. It must not end with one of
// the CLI's children that the kernel kills for its memory, where this systemd can be told so.
func scopeArgs(unit string, pids []int, withOOMPolicy bool) []string {
	properties := [][]string{{"PIDs", "au", strconv.Itoa(len(pids))}}
	for _, pid := range pids {
		properties[0] = append(properties[0], strconv.Itoa(pid))
	}
	properties = append(properties, []string{"Slice", "s", "agent.slice"}, []string{"CollectMode", "s", "inactive-or-failed"})
	if withOOMPolicy {
		properties = append(properties, []string{oomPolicy, "s", "continue"})
	}
	args := []string{
		"--user", "--timeout=" + strconv.Itoa(int(scopeWait/time.Second)), "call",
		"org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
		"StartTransientUnit", "ssa(sv)a(sa(sv))", unit, "fail", strconv.Itoa(len(properties)),
	}
	for _, property := range properties {
		args = append(args, property...)
	}
	return append(args, "0") // no units beside it
}

// longestUnit is systemd's UNIT_NAME_MAX, without the final NUL.
const longestUnit = 255

// scopeName is the unit of a session, its id escaped as systemd-escape does it; valid is false for one that is too
// long.
func scopeName(ledgerID string) (unit string, valid bool) {
	var name strings.Builder
	name.WriteString("agent-")
	for _, b := range []byte(ledgerID) {
		if 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte(":_.-", b) >= 0 {
			name.WriteByte(b)
		} else {
			fmt.Fprintf(&name, `\x%02x`, b)
		}
	}
	name.WriteString(".scope")
	return name.String(), ledgerID != "" && name.Len() <= longestUnit
}
