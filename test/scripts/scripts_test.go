// Package scripts holds no code: its tests are scripts (testdata/*.txtar) that
// run both programs as they are shipped, with stand-ins for the real CLIs, each
// in a throwaway HOME and in namespaces of its own.
package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"agentwrap/test/cli"
	"agentwrap/test/isolate"
	"agentwrap/test/standin"
)

// builtVar hands the folder of the built programs to the tests inside their
// namespaces.
const builtVar = "AGENTWRAP_TEST_BUILT"

// suite runs the tests, or plays a terminal or the first process of a
// namespace.
type suite struct{ m *testing.M }

func (s suite) Run() int { return cli.Main(s.m) }

func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){
		"claude": standin.Main, "codex": standin.Main, "gemini": standin.Main,
	})
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	if os.Getenv(builtVar) == "" {
		t.Setenv(builtVar, build(t))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			isolate.Test(t, func(t *testing.T) { runScript(t, file) })
		})
	}
}

// build builds both programs as they are shipped. The test cache knows nothing
// of that, so that the sources are looked at here, where it sees it.
func build(t *testing.T) string {
	t.Helper()
	const module = "../.."
	for _, top := range []string{"cmd", "internal", "Makefile", "go.mod", "go.sum"} {
		err := filepath.WalkDir(filepath.Join(module, top), func(path string, _ os.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	cmd := exec.Command("make", "-s", "-C", module, "all", "BIN="+bin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make all: %v\n%s", err, out)
	}
	return bin
}

func runScript(t *testing.T, file string) {
	terminals := &terminals{open: map[string]*cli.Terminal{}}
	testscript.Run(t, testscript.Params{
		Files: []string{file},
		Setup: func(env *testscript.Env) error { return setUp(env, terminals) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"terminal": terminals.start, "submit": terminals.submit, "press": terminals.press, "screen": terminals.wait,
			"hangup": terminals.hangUp, "killterminal": terminals.kill, "exits": terminals.exits,
			"capture": capture, "until": until,
		},
	})
}

// goEnv is what a script needs to build this project without a network and
// without a home.
func goEnv(t testing.TB) []string {
	t.Helper()
	names := []string{"GOROOT", "GOCACHE", "GOMODCACHE", "GOFLAGS"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	env := []string{"GOPROXY=off", "GOTELEMETRY=off"}
	for i, value := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		env = append(env, names[i]+"="+value)
	}
	return env
}

// setUp makes the script's machine: a home with a space in its name, shims for
// the stand-ins before them on PATH, a repository to work in.
func setUp(env *testscript.Env, terminals *terminals) error {
	home, shims, work := filepath.Join(env.WorkDir, "a home"), filepath.Join(env.WorkDir, "shims"), filepath.Join(env.WorkDir, "work")
	standins, built := strings.SplitN(env.Getenv("PATH"), string(filepath.ListSeparator), 2)[0], os.Getenv(builtVar)
	source, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	for _, dir := range []string{home, shims, work, filepath.Join(env.WorkDir, "tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for _, name := range []string{"claude", "codex", "gemini"} {
		if err := os.Symlink(filepath.Join(built, "agentwrap"), filepath.Join(shims, name)); err != nil {
			return err
		}
	}
	env.Vars = []string{
		"WORK=" + env.WorkDir, "HOME=" + home, "TMPDIR=" + filepath.Join(env.WorkDir, "tmp"), "USER=user", "LANG=C.UTF-8", "TERM=xterm-256color",
		"PATH=" + strings.Join([]string{shims, built, standins, "/usr/bin", "/bin"}, ":"),
		"SOURCE=" + source, "STANDINS=" + standins, "BUILT=" + built,
		"AGENT_SESSIONS_DIR=" + filepath.Join(env.WorkDir, "ledger"), "AGENTWRAP_SHIM_DIR=" + shims, "SHELL=/bin/bash",
		// A script that wants a sweep runs one.
		"AGENT_SESSIONS_NO_SWEEP=1",
	}
	terminals.t = env.T().(testing.TB)
	env.Vars = append(env.Vars, goEnv(terminals.t)...)
	env.Cd = work
	terminals.world = &cli.World{Work: work, Env: env.Vars}
	return repository(work, env.Vars)
}

func repository(dir string, env []string) error {
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"-c", "user.name=user", "-c", "user.email=user@localhost", "commit", "-q", "--allow-empty", "-m", "begin"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, env
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return nil
}

// capture NAME sets a variable of the script to what the last command printed.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: capture NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// until PATTERN COMMAND [ARG...] runs a command again and again until what it
// prints matches: for what a script can only see from outside, such as a process
// noticing that another one is gone.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND [ARG...]")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		if err == nil && pattern.MatchString(out) {
			return
		}
		if time.Since(start) > time.Minute {
			ts.Fatalf("no %q after a minute, but: %v\n%s%s", args[0], err, out, ts.ReadFile("stderr"))
		}
	}
}

// terminals are the terminals that a script has opened, by name.
type terminals struct {
	t     testing.TB
	world *cli.World
	open  map[string]*cli.Terminal
}

// start: terminal NAME COMMAND [ARG...] opens a terminal with a command in it.
func (ts *terminals) start(script *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		script.Fatalf("usage: terminal NAME COMMAND [ARG...]")
	}
	ts.open[args[0]] = ts.world.Open(ts.t, args[1], args[2:]...)
}

func (ts *terminals) named(script *testscript.TestScript, neg bool, args []string, more int) *cli.Terminal {
	if neg || len(args) != 1+more || ts.open[args[0]] == nil {
		script.Fatalf("wants a terminal's name and %d arguments", more)
	}
	return ts.open[args[0]]
}

// submit NAME TEXT types a line.
func (ts *terminals) submit(script *testscript.TestScript, neg bool, args []string) {
	ts.named(script, neg, args, 1).Submit(args[1])
}

// press NAME KEYS sends keys, as a Go string literal without its quotes.
func (ts *terminals) press(script *testscript.TestScript, neg bool, args []string) {
	keys, err := strconv.Unquote(`"` + args[1] + `"`)
	script.Check(err)
	ts.named(script, neg, args, 1).Press(keys)
}

// wait: screen NAME TEXT waits until the screen holds a text.
func (ts *terminals) wait(script *testscript.TestScript, neg bool, args []string) {
	ts.named(script, neg, args, 1).WaitText(args[1])
}

func (ts *terminals) hangUp(script *testscript.TestScript, neg bool, args []string) {
	ts.named(script, neg, args, 0).HangUp()
}

func (ts *terminals) kill(script *testscript.TestScript, neg bool, args []string) {
	ts.named(script, neg, args, 0).Kill()
}

// exits NAME STATUS waits for the end of the command in a terminal: an exit
// code, or signal-N.
func (ts *terminals) exits(script *testscript.TestScript, neg bool, args []string) {
	status := ts.named(script, neg, args, 1).WaitExit()
	got := strconv.Itoa(status.Code)
	switch {
	case !status.Known:
		got = "unknown"
	case status.Signal != 0:
		got = "signal-" + strconv.Itoa(status.Signal)
	}
	if got != args[1] {
		script.Fatalf("the command in terminal %s ended with %s, want %s", args[0], got, args[1])
	}
}
