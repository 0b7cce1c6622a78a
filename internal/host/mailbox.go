package host

import (
	"encoding/binary"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// mailbox takes what other goroutines want the loop to do.
type mailbox struct {
	mu     sync.Mutex
	work   []func()
	signal int // an eventfd that is readable while there is work
}

func (m *mailbox) open() (err error) {
	m.signal, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return err
}

// post has the loop do something soon.
func (m *mailbox) post(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.work = append(m.work, do)
	_, _ = unix.Write(m.signal, binary.NativeEndian.AppendUint64(nil, 1))
}

// after has the loop do something when d has passed.
func (m *mailbox) after(d time.Duration, do func()) *time.Timer {
	return time.AfterFunc(d, func() { m.post(do) })
}

func (m *mailbox) descriptor() int { return m.signal }
func (m *mailbox) interest() int16 { return unix.POLLIN }

func (m *mailbox) ready(int16) {
	m.mu.Lock()
	work := m.work
	m.work = nil
	_, _ = unix.Read(m.signal, make([]byte, 8))
	m.mu.Unlock()
	for _, do := range work {
		do()
	}
}
