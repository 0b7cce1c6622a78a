package host

import (
	"bytes"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/host/ctlseq"
	"agentwrap/internal/ledger"
	"agentwrap/internal/tmuxhost"
)

// mirror is the tmux pane that this holder runs in: it gets a copy of the output, so that tmux knows screen
// and history, and what is typed there (a plain tmux client, send-keys, tmux's own answers) goes to the CLI.
// A nil mirror is none: tmux is absent, or was given up.
type mirror struct {
	h       *holder
	server  tmuxhost.Server
	fd      int // the pane's terminal
	tasks   []*task
	size    int // bytes that wait
	wrote   time.Time
	asked   *task // the barrier that tmux is to answer
	foreign int   // queries of the CLI's own, like the barrier's, that tmux got and has not answered
	resized *Size // of a resize that has not begun
	watched bool  // see watch
}

// task is the next thing for the pane: bytes to write or, where it has lost, a barrier.
type task struct {
	bytes   []byte
	foreign int               // see mirror; counted there when the first of the bytes is written
	then    func(done func()) // nil once it is called
	lost    func()
}

func (t *task) isBarrier() bool { return t.lost != nil }

const (
	fullMirror  = 1 << 20                // bytes that wait before the CLI waits for tmux
	mirrorStall = 500 * time.Millisecond // how long it then may take none before it is given up
	taskBytes   = 32 << 10
	writeBytes  = 4 << 10 // what a pane's terminal takes at once
)

// barrierQuery asks for the terminal's state; tmux answers in order, when it has parsed what came before.
const barrierQuery, barrierAnswer = "\x1b[5n", "\x1b[0n"

// openMirror makes the pane this process was started in a mirror, if it was started in one.
func (h *holder) openMirror() {
	if _, err := unix.IoctlGetTermios(0, unix.TCGETS); err != nil {
		return
	}
	fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil || unix.SetNonblock(fd, true) != nil {
		return
	}
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		for n := range 3 {
			_ = unix.Dup3(int(null.Fd()), n, 0)
		}
		null.Close()
	}
	h.inPane = true
	h.mirror = &mirror{h: h, fd: fd, server: tmuxhost.Server{Program: h.order.Tmux, Socket: h.order.TmuxSocket}}
	h.mirror.makeRaw()
}

func (m *mirror) makeRaw() {
	modes, err := unix.IoctlGetTermios(m.fd, unix.TCGETS)
	if err != nil {
		return
	}
	modes.Iflag, modes.Lflag = 0, 0
	modes.Oflag &^= unix.OPOST
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(m.fd, unix.TCSETS, modes)
}

func (m *mirror) descriptor() int { return m.fd }

func (m *mirror) interest() int16 {
	if len(m.tasks) > 0 && m.asked == nil {
		return unix.POLLIN | unix.POLLOUT
	}
	return unix.POLLIN
}

func (m *mirror) ready(events int16) {
	if events&unix.POLLOUT != 0 {
		m.flush()
	}
	if events&^unix.POLLOUT != 0 && m.h.mirror == m {
		m.read()
	}
}

// behind tells whether the CLI must wait for tmux.
func (m *mirror) behind() bool {
	if m == nil || m.size <= fullMirror {
		return false
	}
	m.watch()
	return true
}

// watch gives tmux up when it takes nothing although much waits.
func (m *mirror) watch() {
	if m.watched {
		return
	}
	m.watched = true
	m.h.mail.after(mirrorStall/5, func() {
		m.watched = false
		if m.h.mirror == m && m.size > fullMirror && time.Since(m.wrote) > mirrorStall {
			m.giveUp()
		}
	})
}

// write hands on output, whole sequences of it, of which foreign are queries like the barrier's.
func (m *mirror) write(b []byte, foreign int) {
	if m == nil || len(b) == 0 {
		return
	}
	if len(m.tasks) == 0 && m.asked == nil {
		m.foreign, foreign = m.foreign+foreign, 0
		n := m.put(b)
		if b = b[n:]; len(b) == 0 || m.h.mirror != m {
			return
		}
	}
	m.size += len(b)
	if last := len(m.tasks) - 1; last >= 0 && !m.tasks[last].isBarrier() && len(m.tasks[last].bytes) < taskBytes {
		m.tasks[last].bytes = append(m.tasks[last].bytes, b...)
		m.tasks[last].foreign += foreign
		return
	}
	m.tasks = append(m.tasks, &task{bytes: bytes.Clone(b), foreign: foreign})
}

// put writes what the pane takes now.
func (m *mirror) put(b []byte) (written int) {
	for written < len(b) {
		n, err := unix.Write(m.fd, b[written:min(len(b), written+writeBytes)])
		switch {
		case n > 0:
			written += n
			m.wrote = time.Now()
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return written
		default:
			m.giveUp()
			return written
		}
	}
	return written
}

// flush does the tasks, as far as the pane takes them.
func (m *mirror) flush() {
	for len(m.tasks) > 0 && m.asked == nil && m.h.mirror == m {
		t := m.tasks[0]
		if t.isBarrier() {
			m.ask(t)
			return
		}
		m.foreign, t.foreign = m.foreign+t.foreign, 0
		n := m.put(t.bytes)
		m.size -= n
		if t.bytes = t.bytes[n:]; len(t.bytes) > 0 {
			return
		}
		m.tasks = m.tasks[1:]
	}
}

// barrier does then once tmux has parsed all that was written before, and holds back what comes after until
// then has called done. Where the mirror is given up before, lost is called instead.
func (m *mirror) barrier(then func(done func()), lost func()) {
	m.tasks = append(m.tasks, &task{then: then, lost: lost})
	m.flush()
}

// barrierWait is how long tmux may take to parse what it was given.
const barrierWait = 2 * time.Second

func (m *mirror) ask(t *task) {
	if m.put([]byte(barrierQuery)) < len(barrierQuery) {
		m.giveUp() // not even this: four bytes fit where poll said that there is room
		return
	}
	m.asked = t
	m.h.mail.after(barrierWait, func() {
		if m.h.mirror == m && m.asked == t && t.then != nil {
			m.giveUp()
		}
	})
}

// answered is tmux's word that it has parsed all before the barrier.
func (m *mirror) answered() {
	t := m.asked
	then := t.then
	t.then = nil
	then(func() {
		if m.h.mirror == m && m.asked == t {
			m.asked, m.tasks = nil, m.tasks[1:]
			m.flush()
		}
	})
}

// read takes what comes out of the pane.
func (m *mirror) read() {
	buf := make([]byte, 64<<10)
	n, err := unix.Read(m.fd, buf)
	if n <= 0 {
		if err != unix.EAGAIN && err != unix.EINTR {
			m.giveUp()
		}
		return
	}
	typed, answered := m.takeAnswer(buf[:n])
	if answered {
		defer m.answered()
	}
	if m.h.newest != nil {
		typed = dropReplies(typed)
	}
	m.h.typeIn(typed)
}

// takeAnswer takes the answer to a barrier out of what comes from the pane.
func (m *mirror) takeAnswer(b []byte) (rest []byte, answered bool) {
	if m.foreign == 0 && (m.asked == nil || m.asked.then == nil) {
		return b, false
	}
	for {
		before, after, found := bytes.Cut(b, []byte(barrierAnswer))
		switch {
		case !found:
			return append(rest, b...), answered
		case m.foreign > 0:
			m.foreign--
			rest = append(append(rest, before...), barrierAnswer...)
		case !answered && m.asked != nil && m.asked.then != nil:
			answered = true
			rest = append(rest, before...)
		default:
			return append(rest, b...), answered
		}
		b = after
	}
}

func (m *mirror) resize(size Size) {
	if m == nil {
		return
	}
	if m.resized != nil {
		*m.resized = size
		return
	}
	m.resized = &size
	m.barrier(func(done func()) {
		m.resized = nil
		go func() {
			_ = m.server.Resize(size.Rows, size.Columns) // a window of the wrong size is still a mirror
			m.h.mail.post(done)
		}()
	}, func() {})
}

// giveUp goes on without the mirror: tmux ended, or hangs.
func (m *mirror) giveUp() {
	h := m.h
	if h.mirror != m {
		return
	}
	h.mirror = nil
	unix.Close(m.fd)
	unanswered := ctlseq.Filter{Asked: h.asked}
	for _, t := range m.tasks {
		unanswered.Feed(nil, t.bytes, ctlseq.Answer)
		if t.then != nil {
			t.then = nil
			t.lost()
		}
	}
	if h.cli.ended {
		return
	}
	h.work.Go(func() {
		_ = h.store.Update(h.order.LedgerID, ledger.Within(time.Second), func(e *ledger.Entry) error {
			if ledger.Value(e.TmuxSocket) != m.server.Socket {
				return ledger.ErrUnchanged
			}
			e.Mux, e.TmuxSession, e.TmuxSocket = ledger.Mux{}, nil, nil
			return nil
		})
	})
}
