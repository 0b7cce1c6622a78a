package launch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentwrap/internal/become"
	"agentwrap/internal/ledger"
)

// The test binary plays the real CLI when it is called by a CLI's name: it
// says what it was started with.
type seen struct {
	Args []string
	Env  []string
	PID  int
	Dir  string
}

func TestMain(m *testing.M) {
	if slices.Contains([]string{"claude", "gemini", "opencode"}, filepath.Base(os.Args[0])) {
		dir, _ := os.Getwd()
		_ = json.NewEncoder(os.Stdout).Encode(seen{os.Args, os.Environ(), os.Getpid(), dir})
		os.Exit(7)
	}
	os.Exit(withProgram(m.Run))
}

// program is agentwrap as it is shipped.
var program string

func withProgram(run func() int) int {
	dir, err := os.MkdirTemp("", "launch")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "agentwrap")
	build := exec.Command("go", "build", "-trimpath", "-ldflags="+become.EntryFlag, "-o", program, "agentwrap/cmd/agentwrap")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return run()
}

// world is a throwaway machine: a shim folder, a folder with the real CLI, and
// an environment that knows nothing else.
type world struct {
	t    *testing.T
	base string
	path []string
	env  []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, base: base}
	w.path = []string{w.dir("shims"), w.dir("real")}
	w.link(program, "shims/claude")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.link(self, "real/claude")
	w.env = []string{"HOME=" + w.dir("home"), "AGENT_SESSIONS_DIR=" + w.at("ledger")}
	return w
}

func (w *world) at(name string) string { return filepath.Join(w.base, name) }

func (w *world) dir(name string) string {
	w.t.Helper()
	if err := os.MkdirAll(w.at(name), 0o700); err != nil {
		w.t.Fatal(err)
	}
	return w.at(name)
}

func (w *world) link(to, name string) {
	w.t.Helper()
	w.dir(filepath.Dir(name))
	if err := os.Symlink(to, w.at(name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) script(name, body string) {
	w.t.Helper()
	w.dir(filepath.Dir(name))
	if err := os.WriteFile(w.at(name), []byte(body), 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// result is what a launch from a script printed and how it ended.
type result struct {
	seen           seen
	stdout, stderr string
	code           int
}

func (w *world) run(args ...string) result {
	w.t.Helper()
	return w.runWith(nil, args...)
}

func (w *world) runWith(env []string, args ...string) result {
	w.t.Helper()
	return w.runAs("claude", env, args...)
}

func (w *world) runAs(name string, env []string, args ...string) result {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(w.path[0], name), args...)
	cmd.Args[0] = name
	cmd.Env = append(append([]string{"PATH=" + strings.Join(w.path, ":")}, w.env...), env...)
	cmd.Dir = w.dir("work")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	r := result{stdout: out.String(), stderr: errs.String(), code: cmd.ProcessState.ExitCode()}
	_ = json.Unmarshal([]byte(r.stdout), &r.seen)
	return r
}

func (w *world) entries() []*ledger.Entry {
	w.t.Helper()
	store := ledger.Open(w.at("ledger"))
	ids, err := store.IDs()
	if err != nil {
		w.t.Fatal(err)
	}
	var list []*ledger.Entry
	for _, id := range ids {
		e, err := store.Read(id)
		if err != nil {
			w.t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

func (w *world) onlyEntry() *ledger.Entry {
	w.t.Helper()
	list := w.entries()
	if len(list) != 1 {
		w.t.Fatalf("%d entries, want 1", len(list))
	}
	return list[0]
}

func variable(env []string, name string) string {
	for _, item := range env {
		if value, ok := strings.CutPrefix(item, name+"="); ok {
			return value
		}
	}
	return ""
}

func TestAHeadlessLaunchIsRecordedAndOtherwiseDirect(t *testing.T) {
	w := newWorld(t)
	r := w.run("-p", "", "two words", "\xff\n")
	if want := []string{"claude", "-p", "", "two words", "\xff\n"}; len(r.seen.Args) != 5 || r.seen.Args[3] != want[3] || r.code != 7 || r.stderr != "" {
		t.Errorf("got %q, code %d, stderr %q", r.seen.Args, r.code, r.stderr)
	}
	e := w.onlyEntry()
	got := map[string]any{"id": e.LedgerID, "pid": *e.PID, "launcher": *e.LauncherPID, "cwd": *e.CWD, "by": e.EnrolledBy, "interactive": *e.Interactive, "scratch": *e.Scratch}
	want := map[string]any{"id": variable(r.seen.Env, "AGENT_LEDGER_ID"), "pid": r.seen.PID, "launcher": r.seen.PID, "cwd": w.at("work"), "by": "shim",
		"interactive": false, "scratch": variable(r.seen.Env, "OPENAGENTS_SCRATCH")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if st, err := os.Stat(*e.Scratch); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("scratch folder: %v", err)
	}
	if e.PIDStartTicks == nil || e.FinishedAt != nil || e.HostSocket != nil || e.TmuxSocket != nil {
		t.Errorf("entry %+v", e)
	}
}

func TestTheEnvironmentIsTheDirectOneButForTwoVariables(t *testing.T) {
	w := newWorld(t)
	extra := []string{"A=1", "A=2", "EMPTY=", "NEWLINE=a\nb", "AGENTWRAP_HOST=never"}
	r := w.runWith(extra, "-p")
	var rest []string
	for _, item := range r.seen.Env {
		if !strings.HasPrefix(item, "AGENT_LEDGER_ID=") && !strings.HasPrefix(item, "OPENAGENTS_SCRATCH=") {
			rest = append(rest, item)
		}
	}
	// A Go program drops the second A itself; a raw look is among become's tests.
	want := append(append([]string{"PATH=" + strings.Join(w.path, ":")}, w.env...), "A=2", "EMPTY=", "NEWLINE=a\nb", "AGENTWRAP_HOST=never")
	if diff := cmp.Diff(want, rest); diff != "" {
		t.Error(diff)
	}
}

func TestServicesAndDisabledLaunchesLeaveNoRecord(t *testing.T) {
	w := newWorld(t)
	for _, tc := range [][]string{{"--version"}, {"mcp", "list"}, {"update"}, {"-h"}} {
		if r := w.run(tc...); r.code != 7 || variable(r.seen.Env, "AGENT_LEDGER_ID") != "" {
			t.Errorf("%q: code %d, env %q", tc, r.code, r.seen.Env)
		}
	}
	if r := w.runWith([]string{"AGENTWRAP_DISABLE=1"}, "-p"); r.code != 7 || variable(r.seen.Env, "OPENAGENTS_SCRATCH") != "" {
		t.Errorf("disabled: %+v", r)
	}
	if list := w.entries(); len(list) != 0 {
		t.Errorf("%d entries", len(list))
	}
}

func TestAnAgentsLaunchNamesItsParentAndKeepsItsScratch(t *testing.T) {
	w := newWorld(t)
	dir := w.dir("inherited")
	r := w.runWith([]string{"AGENT_LEDGER_ID=codex-20260807T110001Z-000001", "OPENAGENTS_SCRATCH=" + dir}, "-p")
	e := w.onlyEntry()
	if *e.LaunchedBy != "agent" || *e.ParentLedgerID != "codex-20260807T110001Z-000001" || *e.Parent != *e.ParentLedgerID || *e.Scratch != dir {
		t.Errorf("entry %+v", e)
	}
	if got := variable(r.seen.Env, "AGENT_LEDGER_ID"); got != e.LedgerID || variable(r.seen.Env, "OPENAGENTS_SCRATCH") != dir {
		t.Errorf("environment %q", r.seen.Env)
	}
}

func TestAResumeNamesItsConversation(t *testing.T) {
	w := newWorld(t)
	const id = "0f0e0d0c-0b0a-4908-8706-050403020100"
	w.runWith([]string{"AGENTWRAP_RESUMED_FROM=claude-20260807T110001Z-000001"}, "-p", "--resume", id)
	e := w.onlyEntry()
	if *e.SessionID != id || e.SessionIDs[0].ID != id || *e.ResumedFrom != "claude-20260807T110001Z-000001" {
		t.Errorf("entry %+v", e)
	}
}

func TestAResumeClosesTheRowItGoesOnWith(t *testing.T) {
	w := newWorld(t)
	w.run("-p")
	old := w.onlyEntry().LedgerID
	w.runWith([]string{"AGENTWRAP_RESUMED_FROM=" + old}, "-p")
	store := ledger.Open(w.at("ledger"))
	e, err := store.Read(old)
	if err != nil || e.ResumedBy == nil || e.FinishedAt == nil || *e.FinishReason != "resumed as "+*e.ResumedBy {
		t.Fatalf("%+v, %v", e, err)
	}
	// One that could not start leaves the row as it was.
	w.run("-p")
	var second string
	for _, e := range w.entries() {
		if e.ResumedFrom == nil && e.LedgerID != old {
			second = e.LedgerID
		}
	}
	w.path = w.path[:1]
	w.script("stub/claude", "\x7fELF")
	w.path = append(w.path, w.at("stub"))
	if r := w.runWith([]string{"AGENTWRAP_RESUMED_FROM=" + second}, "-p"); r.code != 126 {
		t.Fatalf("%+v", r)
	}
	if e, err := store.Read(second); err != nil || e.ResumedBy != nil || e.FinishedAt != nil {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestNothingOfOursStopsALaunch(t *testing.T) {
	for name, breakIt := range map[string]func(w *world){
		"ledger root is a file":        func(w *world) { w.script("ledger", "x") },
		"ledger root dangles":          func(w *world) { w.link("/nowhere/at/all", "ledger") },
		"root of another user":         func(w *world) { _ = os.Chown(w.dir("ledger"), 54321, 54321) },
		"no HOME, no root":             func(w *world) { w.env = nil },
		"scratch root is a file":       func(w *world) { w.script("home/.openagents", "x") },
		"sessions folder is a file":    func(w *world) { w.script("ledger/sessions", "x") },
		"shim folder is a file":        func(w *world) { w.script("f", "x"); w.env = append(w.env, "AGENTWRAP_SHIM_DIR="+w.at("f")) },
		"a ledger id that is no id":    func(w *world) { w.env = append(w.env, "AGENT_LEDGER_ID=../../etc/passwd") },
		"an environment of 600 KB":     func(w *world) { w.env = append(w.env, manyVariables(6, 100<<10)...) },
		"a name on PATH that is a dir": func(w *world) { w.dir("d/claude"); w.path = []string{w.path[0], w.at("d"), w.path[1]} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			breakIt(w)
			arg := strings.Repeat("x", 100<<10)
			r := w.run("-p", arg, arg)
			if r.code != 7 || len(r.seen.Args) != 4 || r.seen.Args[3] != arg || r.stderr != "" || variable(r.seen.Env, "AGENT_LEDGER_ID") == "" {
				t.Errorf("code %d, %d arguments, stderr %q", r.code, len(r.seen.Args), r.stderr)
			}
		})
	}
}

func manyVariables(n, size int) []string {
	var list []string
	for i := range n {
		list = append(list, "BIG"+string(rune('A'+i))+"="+strings.Repeat("y", size))
	}
	return list
}

func TestAProgramThatCannotRunIsPassedOver(t *testing.T) {
	w := newWorld(t)
	w.script("stub/claude", "\x7fELF cut short by an update")
	w.path = []string{w.path[0], w.dir("stub"), w.path[1]}
	if r := w.run("-p"); r.code != 7 || w.onlyEntry().FinishedAt != nil {
		t.Errorf("%+v", r)
	}
}

func TestNothingToStartIsSaidWithEveryCandidate(t *testing.T) {
	w := newWorld(t)
	w.script("stub/claude", "\x7fELF")
	w.link("/nowhere/claude", "dangling/claude")
	w.path = []string{w.path[0], w.at("stub"), w.at("dangling")}
	r := w.run("-p")
	if r.code != 126 || !strings.Contains(r.stderr, w.at("stub/claude")) || !strings.Contains(r.stderr, "a link to nothing") || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if e := w.onlyEntry(); e.FinishedAt == nil || *e.FinishReason != "could not be started" {
		t.Errorf("entry %+v", e)
	}
	w.path = w.path[:1]
	if r := w.run("-p"); r.code != 127 || !strings.Contains(r.stderr, "agentwrap itself") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// asdf#2166, omarchy#7360, cc#45260: a shim that finds itself.
func TestALaunchThatComesBackToAShimEndsAtTheRealCLI(t *testing.T) {
	w := newWorld(t)
	shim := filepath.Join(w.path[0], "claude")
	w.script("wrap/claude", "#!/bin/sh\nexec "+shim+" \"$@\"\n")
	copied, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	w.script("copy/claude", string(copied))
	w.path = []string{w.path[0], w.at("wrap"), w.at("copy"), w.path[1]}
	if r := w.run("-p"); r.code != 7 || r.stderr != "" {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	w.onlyEntry()
	w.path = w.path[:2]
	if r := w.run("-p"); r.code != 126 || !strings.Contains(r.stderr, "leads back") {
		t.Errorf("nothing but the loop: code %d: %s", r.code, r.stderr)
	}
}

func TestALoopThroughNewProcessesEnds(t *testing.T) {
	w := newWorld(t)
	w.script("wrap/claude", "#!/bin/sh\n"+filepath.Join(w.path[0], "claude")+" \"$@\"\n")
	w.path = []string{w.path[0], w.at("wrap"), "/bin", "/usr/bin"}
	if r := w.run("-p"); r.code != 126 || !strings.Contains(r.stderr, "leads back") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}
