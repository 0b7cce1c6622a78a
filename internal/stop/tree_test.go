package stop

import (
	"slices"
	"testing"

	"agentwrap/internal/process"
)

func TestTree(t *testing.T) {
	// pid, parent, group, start ticks, state
	stat := func(pid, ppid, pgrp int, ticks uint64, state byte) process.Stat {
		return process.Stat{PID: pid, PPID: ppid, PGRP: pgrp, StartTicks: ticks, State: state}
	}
	all := []process.Stat{
		stat(1, 0, 1, 0, 'S'),
		stat(10, 1, 10, 50, 'S'),     // the shell
		stat(20, 10, 20, 100, 'S'),   // the session
		stat(21, 20, 20, 101, 'S'),   // its child
		stat(22, 21, 22, 102, 'S'),   // a grandchild in a group of its own
		stat(23, 22, 22, 103, 'Z'),   // ended
		stat(24, 23, 22, 104, 'S'),   // below one that has ended
		stat(25, 1, 20, 105, 'S'),    // lost its parent, still in the session's group
		stat(26, 1, 26, 106, 'S'),    // lost its parent and its group
		stat(27, 26, 26, 107, 'S'),   //
		stat(28, 20, 28, 108, 'S'),   // a shared daemon
		stat(29, 28, 28, 109, 'S'),   // and its worker
		stat(30, 10, 30, 110, 'S'),   // the shell's next job
		stat(120, 10, 120, 900, 'S'), // took the pid of one that was known
	}
	root := process.Identity{BootID: "b", PID: 20, StartTicks: 100}
	spare := func(st process.Stat) bool { return st.PID == 28 }
	for _, c := range []struct {
		name  string
		root  process.Identity
		all   []process.Stat
		known []process.Identity
		want  []int
	}{
		{"descendants and group", root, all, nil, []int{20, 21, 22, 24, 25}},
		{"known ones whose parents are gone", root, all, []process.Identity{{BootID: "b", PID: 26, StartTicks: 106}}, []int{20, 21, 22, 24, 25, 26, 27}},
		{"a known pid that was given away", root, all, []process.Identity{{BootID: "b", PID: 120, StartTicks: 100}}, []int{20, 21, 22, 24, 25}},
		{"the session's pid was given away", process.Identity{BootID: "b", PID: 20, StartTicks: 99}, all, nil, nil},
		{"the session is gone, its group is not", root, slices.Delete(slices.Clone(all), 2, 3), nil, []int{21, 22, 24, 25}},
		{"a session that does not lead its group", process.Identity{BootID: "b", PID: 21, StartTicks: 101}, all, nil, []int{21, 22, 24}},
	} {
		var got []int
		for _, st := range tree(c.all, c.root, c.known, spare) {
			got = append(got, st.PID)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
