package host

import (
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"agentwrap/internal/become"
	"agentwrap/internal/host/ctlseq"
	"agentwrap/internal/host/wire"
	"agentwrap/internal/ledger"
)

// holder keeps one CLI's terminal. All of it belongs to the goroutine that runs its loop; what takes long is
// done by others, which hand what is left to do to post.
type holder struct {
	order wire.Order
	store *ledger.Store
	cli   cli

	master, slave int
	tty           string // the slave's path
	size          Size
	listener      int
	received      []int // the order's descriptors, until the child has them

	clients []*client
	newest  *client // the terminal that answers the CLI's queries and whose size counts
	drawing *client // the one that is being drawn; the CLI's output is held
	output  output
	input   input
	inPane  bool // of a tmux server of its own
	mirror  *mirror

	mail     mailbox
	work     sync.WaitGroup // what must be done before this process ends
	shown    bool           // the terminals have the CLI's last byte
	tried    bool           // its end is in its entry, or could not be written at once
	finished bool           // the terminals have been told of the end
	over     bool
}

// cli is the process that the holder waits for.
type cli struct {
	child      *become.Child
	startTicks uint64
	stopped    bool
	stoppedBy  syscall.Signal
	background bool // of its terminal
	ended      bool
	end        wire.State
}

// output is what the CLI writes, on its way.
type output struct {
	buf      []byte
	filter   ctlseq.Filter
	stripped []byte // the filter's last
	foreign  int    // queries in it that are like a barrier's
	unparsed bool   // the filter failed: the mirror gets what the terminal gets
	ring     ring
	mark     marker
	begun    chan struct{} // closed behind the CLI's first output, then nil
	reset    []byte        // what the terminals were last told
	resetDue bool
}

// HolderMain is the holder's main: args are the path of the socket at which its launcher waits. It returns
// the exit status when the session is over.
func HolderMain(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "agentwrap: hold is for agentwrap itself: it takes the socket of a launch")
		return 2
	}
	dropInherited()
	signals := catchSignals()
	h := &holder{master: -1, slave: -1, listener: -1}
	launcher, err := h.begin(args[0])
	if err != nil {
		return 1
	}
	h.welcome(launcher)
	go h.passSignals(signals)
	h.reap() // it may have ended before its SIGCHLD could be told
	h.loop()
	h.work.Wait()
	return 0
}

// dropInherited closes what a launcher or a tmux server let this process inherit: kept open here it would
// keep others waiting for its end.
func dropInherited() {
	for _, fd := range openDescriptors() {
		if fd > 2 && inheritable(fd) {
			unix.Close(fd)
		}
	}
}

// loop serves the session until it is over.
func (h *holder) loop() {
	var watched []unix.PollFd
	for !h.over {
		sources := h.sources()
		watched = watched[:0]
		for _, s := range sources {
			watched = append(watched, unix.PollFd{Fd: int32(s.descriptor()), Events: s.interest()})
		}
		if _, err := unix.Poll(watched, -1); err != nil && err != unix.EINTR {
			return
		}
		for i, s := range sources {
			if events := watched[i].Revents; events != 0 {
				s.ready(events)
			}
		}
		h.settle()
	}
}

// source is a descriptor that the loop watches. One without interest is still watched for hang-ups, but a
// negative descriptor is not watched at all.
type source interface {
	descriptor() int
	interest() int16
	ready(events int16)
}

func (h *holder) sources() []source {
	all := []source{&h.mail, cliSource{h}, listenSource{h}}
	if h.mirror != nil {
		all = append(all, h.mirror)
	}
	for _, c := range h.clients {
		all = append(all, c)
	}
	return all
}

// settle does what follows from all that the last round brought.
func (h *holder) settle() {
	h.dropClosed()
	h.changeStreams()
	h.serveRedraws()
	h.pauseInput()
}

// cliSource is the master side of the CLI's terminal.
type cliSource struct{ h *holder }

func (s cliSource) descriptor() int {
	if s.interest() == 0 {
		return -1 // a hang-up, too, waits its turn
	}
	return s.h.master
}

func (s cliSource) interest() (events int16) {
	if !s.h.held() {
		events |= unix.POLLIN
	}
	if s.h.input.waiting() {
		events |= unix.POLLOUT
	}
	return events
}

func (s cliSource) ready(events int16) {
	if events&unix.POLLOUT != 0 {
		s.h.writeInput()
	}
	if events&^unix.POLLOUT != 0 && !s.h.held() {
		s.h.readOutput()
	}
}

// listenSource is the holder's socket.
type listenSource struct{ h *holder }

func (s listenSource) descriptor() int { return s.h.listener }
func (s listenSource) interest() int16 { return unix.POLLIN }

func (s listenSource) ready(int16) {
	fd, err := accept(s.h.listener, unix.SOCK_NONBLOCK)
	if err != nil {
		return // another user's, or gone already
	}
	s.h.clients = append(s.h.clients, newClient(s.h, fd))
}
