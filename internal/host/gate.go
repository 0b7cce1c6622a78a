package host

import "sync"

// gate lets the keyboard through while this process has the terminal and the CLI reads. The zero value is
// shut.
type gate struct {
	mu      sync.Mutex
	changed sync.Cond
	mine    bool
	paused  bool
}

func (g *gate) open(mine bool)    { g.set(&g.mine, mine) }
func (g *gate) pause(paused bool) { g.set(&g.paused, paused) }

func (g *gate) set(target *bool, value bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*target = value
	g.cond().Broadcast()
}

func (g *gate) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mine && !g.paused
}

// wait blocks until the gate is open.
func (g *gate) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.mine || g.paused {
		g.cond().Wait()
	}
}

func (g *gate) cond() *sync.Cond {
	g.changed.L = &g.mu
	return &g.changed
}
