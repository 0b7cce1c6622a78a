package ledger

import (
	"errors"
	"strings"
	"testing"
)

func TestFindProcess(t *testing.T) {
	row := func(change func(*Entry)) Entry {
		e := Entry{Runtime: "codex", BootID: Ptr("b"), PID: Ptr(7), PIDStartTicks: Ptr(uint64(70)), LauncherPID: Ptr(5)}
		if change != nil {
			change(&e)
		}
		return e
	}
	unobserved := row(func(e *Entry) { e.PID, e.PIDStartTicks = nil, nil })
	carrier := func(pid int, ticks uint64, ancestors ...int) Carrier {
		return Carrier{PID: pid, StartTicks: ticks, PGRP: pid, Runtime: "codex", Ancestors: ancestors}
	}
	seen := Sighting{Exists: true, StartTicks: 70}
	for _, tc := range []struct {
		name  string
		entry Entry
		look  Look
		want  Presence
		pid   int
		why   string
	}{
		{"its pid with its start ticks runs", row(nil), Look{BootID: "b", Recorded: seen}, Running, 7, "process 7 runs"},
		{"the pid is another process now", row(nil), Look{BootID: "b", Recorded: Sighting{Exists: true, StartTicks: 71}}, Gone, 0, "another one now"},
		{"the pid is gone", row(nil), Look{BootID: "b"}, Gone, 0, "process 7 is gone"},
		{"a reboot ends it, even with the same pid and ticks", row(nil), Look{BootID: "c", Recorded: seen}, Gone, 0, "restarted"},
		{"another machine's processes are not here to be seen", row(func(e *Entry) { e.MachineID, e.Host = Ptr("m"), Ptr("e14") }), Look{BootID: "c", Machine: "n"}, Unproved, 0, "another machine, e14"},
		{"a machine that was given another name is the same", row(func(e *Entry) { e.MachineID, e.Host = Ptr("m"), Ptr("old-name") }), Look{BootID: "c", Machine: "m"}, Gone, 0, "restarted"},
		{"where no machine is known the boot alone tells", row(func(e *Entry) { e.MachineID = Ptr("m") }), Look{BootID: "c"}, Gone, 0, "restarted"},
		{"an unreadable boot id proves nothing", row(nil), Look{Recorded: seen}, Unproved, 0, "boot id"},
		{"an unreadable pid proves nothing", row(nil), Look{BootID: "b", Recorded: Sighting{Err: errors.New("denied")}}, Unproved, 0, "denied"},
		{"a row without a boot needs the id in the environment", row(func(e *Entry) { e.BootID = nil }), Look{BootID: "b", Recorded: seen}, Unproved, 0, "names no boot"},
		{"and has it", row(func(e *Entry) { e.BootID = nil }), Look{BootID: "b", Recorded: seen, Carriers: []Carrier{carrier(7, 70)}}, Running, 7, ""},
		{"its recorded process wins over other carriers", row(nil), Look{BootID: "b", Recorded: seen, Carriers: []Carrier{carrier(6, 60)}}, Running, 7, ""},
		{"a wrapper's program lives on: of its group", row(nil), Look{BootID: "b", Carriers: []Carrier{{PID: 9, StartTicks: 5000, PGRP: 7, Runtime: "codex"}}}, Running, 9, "its wrapper 7 is gone"},
		{"a wrapper's program lives on: started right behind it", row(nil), Look{BootID: "b", Carriers: []Carrier{carrier(9, 80)}}, Running, 9, ""},
		{"what the session ran later is not the session", row(nil), Look{BootID: "b", Carriers: []Carrier{carrier(9, 70+survivorTicks+1)}}, Gone, 0, ""},
		{"a daemon's worker with an inherited id is not", row(nil), Look{BootID: "b", Carriers: []Carrier{{PID: 9, StartTicks: 80, PGRP: 9, Runtime: "codex", Leader: true}}}, Gone, 0, ""},
		{"another runtime with the id is not", row(nil), Look{BootID: "b", Carriers: []Carrier{{PID: 9, StartTicks: 80, PGRP: 7, Runtime: "claude"}}}, Gone, 0, ""},
		{"no pid yet: the launcher became it", unobserved, Look{BootID: "b", Carriers: []Carrier{carrier(5, 50)}}, Running, 5, "carries its id"},
		{"no pid yet: the launcher started it", unobserved, Look{BootID: "b", Carriers: []Carrier{carrier(8, 80, 6, 5, 1)}}, Running, 8, ""},
		{"no pid yet: an id from elsewhere is not adopted", unobserved, Look{BootID: "b", Carriers: []Carrier{carrier(8, 80, 6, 1)}}, Gone, 0, ""},
		{"no pid yet: the outermost carrier is the session", unobserved, Look{BootID: "b", Carriers: []Carrier{carrier(9, 10, 8, 5), carrier(8, 80, 5)}}, Running, 8, ""},
		{"no pid yet: a wrapper of another runtime is not", unobserved, Look{BootID: "b", Carriers: []Carrier{{PID: 6, StartTicks: 60, Runtime: "claude", Ancestors: []int{5}}, carrier(8, 80, 6, 5)}}, Running, 8, ""},
		{"no runtime recorded: the carriers are all there is", row(func(e *Entry) { e.PID, e.PIDStartTicks, e.Runtime = nil, nil, "" }), Look{BootID: "b", Carriers: []Carrier{carrier(8, 80, 5)}}, Running, 8, ""},
		{"no pid yet and its launcher runs: it is being started", unobserved, Look{BootID: "b", Launching: true}, Unproved, 0, "being started"},
		{"no pid yet and an unreadable environment: not proved", unobserved, Look{BootID: "b", Blind: []int{33}}, Unproved, 0, "process 33"},
		{"no pid, no carrier, no launcher", unobserved, Look{BootID: "b"}, Gone, 0, "none carries its id"},
		{"a pid without its ticks is no identity", row(func(e *Entry) { e.PIDStartTicks = nil }), Look{BootID: "b", Recorded: seen}, Gone, 0, "none carries its id"},
	} {
		got := FindProcess(&tc.entry, tc.look)
		if got.Presence != tc.want || got.Process.PID != tc.pid || !strings.Contains(got.Why, tc.why) {
			t.Errorf("%s: %d, pid %d (%s), want %d, pid %d", tc.name, got.Presence, got.Process.PID, got.Why, tc.want, tc.pid)
		}
	}
}
