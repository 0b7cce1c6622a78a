package host

import "testing"

// What the CLI writes while its screen is being captured comes behind it.
func TestOutputDuringACaptureIsKept(t *testing.T) {
	m := &mirror{h: &holder{}, fd: -1}
	m.h.mirror = m
	barrier := &task{then: func(func()) {}, lost: func() {}}
	m.tasks, m.asked = []*task{barrier}, barrier
	barrier.then = nil // as it is once tmux has answered
	m.write([]byte("early"), 0)
	m.write([]byte(" and late"), 0)
	if len(m.tasks) != 2 || len(barrier.bytes) != 0 || string(m.tasks[1].bytes) != "early and late" {
		t.Errorf("%d tasks, the barrier holds %q", len(m.tasks), barrier.bytes)
	}
}
