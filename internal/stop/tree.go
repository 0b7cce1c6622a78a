package stop

import (
	"slices"

	"agentwrap/internal/process"
)

// tree are the processes that end with root: root itself, what descends from it
// or from one of the known (found in an earlier look; their parents may be gone
// since), and the members of the process group that root leads. What spare says
// true of stays, with all that descends from it. A pid with other start ticks
// is another process.
func tree(all []process.Stat, root process.Identity, known []process.Identity, spare func(process.Stat) bool) []process.Stat {
	g := grower{root: root.PID, byPID: map[int]process.Stat{}, children: map[int][]process.Stat{}, seen: map[int]bool{}, spare: spare}
	for _, st := range all {
		g.children[st.PPID] = append(g.children[st.PPID], st)
		g.byPID[st.PID] = st
	}
	for _, id := range slices.Concat([]process.Identity{root}, known) {
		if st, there := g.byPID[id.PID]; there && st.StartTicks == id.StartTicks {
			g.take(st)
		}
	}
	// The kernel gives no pid away while a group has it, so that a group of that
	// number is root's, unless a younger process leads it.
	if st, there := g.byPID[root.PID]; there && st.StartTicks != root.StartTicks {
		return g.members
	}
	for _, st := range all {
		if st.PGRP == root.PID {
			g.take(st)
		}
	}
	return g.members
}

// grower collects a tree.
type grower struct {
	root     int
	byPID    map[int]process.Stat
	children map[int][]process.Stat
	spare    func(process.Stat) bool
	seen     map[int]bool
	members  []process.Stat
}

func (g *grower) take(st process.Stat) {
	if g.seen[st.PID] || g.stays(st) {
		return
	}
	g.seen[st.PID] = true
	// One that has ended and waits to be told so needs no end.
	if st.State != 'Z' && st.State != 'X' {
		g.members = append(g.members, st)
	}
	for _, child := range g.children[st.PID] {
		g.take(child)
	}
}

// stays tells whether a process, or one between it and the root, is spared.
func (g *grower) stays(st process.Stat) bool {
	for range process.MaxDepth {
		if g.spare(st) {
			return true
		}
		parent, there := g.byPID[st.PPID]
		if st.PID == g.root || !there || parent.PID == 1 {
			return false
		}
		st = parent
	}
	return false
}
