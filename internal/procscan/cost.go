package procscan

import (
	"os"

	"github.com/prometheus/procfs"

	"agentwrap/internal/process"
)

// Cost is what a process and all below it use now.
type Cost struct {
	// Memory is the resident memory in bytes; what processes share counts once
	// in each.
	Memory int64
	// CPUTicks are the ticks of cpu time used so far by those that still run.
	CPUTicks uint64
	// PIDs are the processes, the root first.
	PIDs []int
}

// Costs are the costs of the trees under some processes. It looks at every
// process once for its parent, and closer only at those in a tree.
func Costs(roots []int) (map[int]Cost, error) {
	costs := make(map[int]Cost, len(roots))
	if len(roots) == 0 {
		return costs, nil
	}
	all, err := process.All()
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, st := range all {
		children[st.PPID] = append(children[st.PPID], st.PID)
	}
	page := int64(os.Getpagesize())
	for _, root := range roots {
		var c Cost
		queue := []int{root}
		for len(queue) > 0 && len(c.PIDs) < maxTree {
			pid := queue[0]
			queue = append(queue[1:], children[pid]...)
			// One that has ended meanwhile costs nothing.
			if st, err := statOf(pid); err == nil {
				c.PIDs = append(c.PIDs, pid)
				c.Memory += int64(st.RSS) * page
				c.CPUTicks += uint64(st.UTime) + uint64(st.STime)
			}
		}
		costs[root] = c
	}
	return costs, nil
}

// maxTree bounds a tree, in processes.
const maxTree = 10_000

func statOf(pid int) (procfs.ProcStat, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}
