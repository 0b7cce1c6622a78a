package hookadopt

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
	"agentwrap/test/isolate"
)

// roleVar makes the test binary play a part: a CLI that calls hooks on order,
// the hook itself, or one of those who stand in its way.
const roleVar = "HOOK_TEST_ROLE"

// dieVar makes a hook kill itself at its nth step that touches the disk.
const dieVar = "HOOK_TEST_DIE_AT"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVar); role {
	case "":
		os.Exit(isolate.Main(m))
	case "cli":
		os.Exit(playCLI())
	case "locker":
		os.Exit(playLocker())
	default:
		playHook(role)
	}
}

// order is what a test has its stand-in CLI do: call a hook with a payload, or
// start another stand-in below itself and pass the rest on to it.
type order struct {
	Payload string
	Env     []string
	Below   []string // an argument vector
	Alone   []string // variables that only the one below has
	Times   int      // hooks at once
}

// report is what came of it.
type report struct {
	Stdout, Stderr string
	Code           int
	PID            int
}

// playCLI carries out orders from stdin until it ends.
func playCLI() int {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var o order
		if in.Decode(&o) != nil {
			return 0
		}
		if o.Below != nil {
			return playAbove(o, in)
		}
		for _, r := range callHooks(o) {
			_ = out.Encode(r)
		}
	}
}

// playAbove starts a CLI below this one and hands it the rest of the orders.
func playAbove(o order, rest *json.Decoder) int {
	below := exec.Command("/proc/self/exe")
	below.Args, below.Stdout, below.Stderr = o.Below, os.Stdout, os.Stderr
	below.Env = append(os.Environ(), o.Alone...)
	in, err := below.StdinPipe()
	if err == nil {
		err = below.Start()
	}
	if err != nil {
		return 1
	}
	enc := json.NewEncoder(in)
	for {
		var next order
		if rest.Decode(&next) != nil {
			in.Close()
			_ = below.Wait()
			return 0
		}
		_ = enc.Encode(next)
	}
}

func callHooks(o order) []report {
	var calls []*exec.Cmd
	for range max(1, o.Times) {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, roleVar+"=") })
		for _, v := range o.Env {
			cmd.Env = append(cmd.Env, strings.ReplaceAll(v, "SELF", strconv.Itoa(os.Getpid())))
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(o.Payload), new(bytes.Buffer), new(bytes.Buffer)
		if err := cmd.Start(); err != nil {
			return nil
		}
		calls = append(calls, cmd)
	}
	var all []report
	for _, cmd := range calls {
		_ = cmd.Wait()
		all = append(all, report{cmd.Stdout.(*bytes.Buffer).String(), cmd.Stderr.(*bytes.Buffer).String(), cmd.ProcessState.ExitCode(), os.Getpid()})
	}
	return all
}

// playHook is `agent-sessions hook CLI`.
func playHook(cli string) {
	if at, err := strconv.Atoi(os.Getenv(dieVar)); err == nil {
		statefile.Inject(func(string, string) error {
			if at--; at == 0 {
				p, _ := os.FindProcess(os.Getpid())
				_ = p.Kill()
				select {}
			}
			return nil
		})
	}
	Run(Call{CLI: cli, Stdin: os.Stdin, Stdout: os.Stdout, Environ: os.Environ(), Now: time.Now,
		Speakers: []Speaker{
			{Key: "trouble", Say: func(context.Context, *ledger.Entry) string { return trouble(os.Getenv("HOOK_TEST_TROUBLE")) }},
			{Key: "greeting", Say: func(context.Context, *ledger.Entry) string { return os.Getenv("HOOK_TEST_SAY") }},
		},
		Prune: func(store *ledger.Store, _ time.Time, more func() bool) error {
			trouble(os.Getenv("HOOK_TEST_PRUNE"))
			return statefile.Append(filepath.Join(store.Dir(), "pruned"), fmt.Appendln(nil, more()))
		},
	})
}

// trouble is what those who contribute to a hook may have.
func trouble(kind string) string {
	switch kind {
	case "panic":
		panic("on order")
	case "hang":
		select {}
	}
	return ""
}

// world is a ledger and a home of the test's own.
type world struct {
	*testing.T
	home  string
	store *ledger.Store
}

func newWorld(t *testing.T) *world {
	home := t.TempDir()
	return &world{t, home, ledger.Open(filepath.Join(home, ".local", "state", "agent-sessions"))}
}

// cli is a stand-in CLI that runs.
type cli struct {
	*world
	hook string
	pid  int
	in   *json.Encoder
	out  *json.Decoder
	env  []string // of its hooks
}

// start starts a stand-in with an argument vector and an environment; its hooks
// are those of the dialect. The variables in env reach the hooks too.
func (w *world) start(hook string, argv []string, env ...string) *cli {
	w.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = argv
	cmd.Env = append([]string{"HOME=" + w.home, roleVar + "=cli", "GORACE=atexit_sleep_ms=0"}, env...)
	cmd.Dir, cmd.Stderr = w.home, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	return &cli{w, hook, cmd.Process.Pid, json.NewEncoder(in), json.NewDecoder(out), []string{roleVar + "=" + hook}}
}

// below starts another stand-in below this one; the orders go to it from now on.
func (c *cli) below(argv []string, env ...string) {
	c.Helper()
	if err := c.in.Encode(order{Below: argv, Alone: env}); err != nil {
		c.Fatal(err)
	}
}

// event calls a hook and returns what it printed. A hook that fails or says
// something on stderr fails the test.
func (c *cli) event(payload string, env ...string) string {
	c.Helper()
	r := c.call(order{Payload: payload, Env: append(slices.Clone(c.env), env...)})
	if r.Code != 0 || r.Stderr != "" {
		c.Errorf("%.200s: exit %d, stderr %q", payload, r.Code, r.Stderr)
	}
	return r.Stdout
}

func (c *cli) call(o order) report {
	c.Helper()
	if err := c.in.Encode(o); err != nil {
		c.Fatal(err)
	}
	return c.report()
}

func (c *cli) report() (r report) {
	c.Helper()
	if err := c.out.Decode(&r); err != nil {
		c.Fatal(err)
	}
	c.pid = r.PID
	return r
}

// rows are all entries, by id.
func (w *world) rows() map[string]*ledger.Entry {
	w.Helper()
	ids, err := w.store.IDs()
	if err != nil {
		w.Fatal(err)
	}
	all := map[string]*ledger.Entry{}
	for _, id := range ids {
		e, err := w.store.Read(id)
		if err != nil {
			w.Error(err)
			continue
		}
		all[id] = e
	}
	return all
}

// row is the one entry there is.
func (w *world) row() *ledger.Entry {
	w.Helper()
	rows := w.rows()
	if len(rows) != 1 {
		w.Fatalf("%d rows: %v; log: %s", len(rows), rows, w.logged())
	}
	for _, e := range rows {
		return e
	}
	return nil
}

func (w *world) logged() string {
	raw, _ := os.ReadFile(filepath.Join(w.store.Dir(), "log", "hook.log"))
	return string(raw)
}

// born writes the record of a launch.
func (w *world) born(e *ledger.Entry) *ledger.Entry {
	w.Helper()
	e.StartedAt, e.EnrolledBy = ledger.At(time.Now()), ledger.EnrolledByShim
	if err := w.store.Create(e, statefile.Soon); err != nil {
		w.Fatal(err)
	}
	return e
}

// transcript makes a conversation's file in claude's folder.
func (w *world) transcript(project, id, firstLine string) string {
	w.Helper()
	path := filepath.Join(w.home, ".claude", "projects", project, id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(firstLine+"\n"), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

const (
	idA = "aaaaaaaa-0000-4000-8000-000000000001"
	idB = "bbbbbbbb-0000-4000-8000-000000000002"
	idC = "cccccccc-0000-4000-8000-000000000003"
)

// says is a payload of an event and more fields, key and value in turn.
func event(name, id string, fields ...string) string {
	p := map[string]string{"hook_event_name": name, "session_id": id}
	for i := 0; i+1 < len(fields); i += 2 {
		p[fields[i]] = fields[i+1]
	}
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// claude starts a stand-in Claude Code, which tells its hooks its pid.
func (w *world) claude(env ...string) *cli {
	w.Helper()
	c := w.start("claude", []string{"claude"}, env...)
	c.env = append(c.env, "CLAUDE_PID=SELF")
	return c
}

func ids(e *ledger.Entry) string {
	var all []string
	for _, c := range e.SessionIDs {
		all = append(all, c.ID[:1])
	}
	return strings.Join(all, "")
}

func describe(e *ledger.Entry) string {
	return fmt.Sprintf("%s by %s, pid %d, parent %s, now %.1s, carried %s, transcript %s, turn %s, finished %v %s %s", e.Runtime, e.EnrolledBy, ledger.Value(e.PID),
		ledger.Value(e.ParentLedgerID), ledger.Value(e.SessionID), ids(e), ledger.Value(e.TranscriptPath), ledger.Value(e.Turn), e.FinishedAt != nil, ledger.Value(e.FinishReason), ledger.Value(e.EndedBy))
}
