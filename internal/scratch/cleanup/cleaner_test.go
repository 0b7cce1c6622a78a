package cleanup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/scratch"
	"agentwrap/internal/statefile"
	"agentwrap/test/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Main(m)) }

// world is a scratch root with a ledger and a lease root, and something that
// must never be touched.
type world struct {
	*testing.T
	Cleaner
	outside string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, outside: filepath.Join(base, "outside"), Cleaner: Cleaner{
		Root: filepath.Join(base, "scratch"), LeaseRoot: filepath.Join(base, "leases"), Ledger: ledger.Open(filepath.Join(base, "ledger")), Now: time.Now(), Rest: 7 * day,
	}}
	w.must(os.MkdirAll(filepath.Join(w.outside, "dir"), 0o700), os.WriteFile(filepath.Join(w.outside, "precious"), []byte("x"), 0o600), os.Mkdir(w.LeaseRoot, 0o700))
	return w
}

func (w *world) must(errs ...error) {
	w.Helper()
	if err := errors.Join(errs...); err != nil {
		w.Fatal(err)
	}
}

// made is a session's folder with a file in it, unchanged for days.
func (w *world) made(session string, days int) string {
	w.Helper()
	dir, err := scratch.Make(w.Root, session)
	w.must(err, os.MkdirAll(filepath.Join(dir, "sub"), 0o700), os.WriteFile(filepath.Join(dir, "sub", "file"), []byte("work"), 0o600))
	w.age(dir, days)
	return dir
}

// age sets back every modification time in a folder.
func (w *world) age(dir string, days int) {
	w.Helper()
	at := unix.NsecToTimeval(w.Now.Add(-time.Duration(days) * day).UnixNano())
	w.must(filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, unix.Lutimes(path, []unix.Timeval{at, at}))
	}))
}

func (w *world) clean() map[string]Outcome {
	w.Helper()
	outcomes, err := w.Clean(time.Minute)
	w.must(err)
	by := map[string]Outcome{}
	for _, o := range outcomes {
		by[o.Session] = o
	}
	return by
}

// holds checks which folders are there, and that nothing outside was touched.
func (w *world) holds(want map[string]bool) {
	w.Helper()
	for dir, there := range want {
		if _, err := os.Lstat(filepath.Join(dir, "sub", "file")); (err == nil) != there {
			w.Errorf("%s: %v, want it there: %t", dir, err, there)
		}
	}
	for _, path := range []string{"precious", "dir"} {
		if _, err := os.Lstat(filepath.Join(w.outside, path)); err != nil {
			w.Errorf("outside: %v", err)
		}
	}
}

func (w *world) row(e *ledger.Entry) string {
	w.Helper()
	e.Runtime, e.StartedAt = "claude", ledger.At(w.Now)
	w.must(w.Ledger.Create(e, statefile.Lazy))
	return e.LedgerID
}

func (w *world) lease(raw string) {
	w.Helper()
	w.must(os.WriteFile(filepath.Join(w.LeaseRoot, "table.json"), []byte(raw), 0o600))
}

func TestEndedAndRestedFoldersGoTheOthersStay(t *testing.T) {
	w := newWorld(t)
	gone, resting := w.made("claude-code:gone", 8), w.made("claude-code:resting", 6)
	deep := w.made("claude-code:one file changed", 8)
	w.must(os.WriteFile(filepath.Join(deep, "sub", "file"), []byte("more"), 0o600))
	w.must(os.WriteFile(filepath.Join(w.Root, "a file"), nil, 0o600), os.Symlink(w.outside, filepath.Join(w.Root, "a-link")))
	before, err := w.Plan()
	w.must(err)
	w.holds(map[string]bool{gone: true, resting: true, deep: true})
	var due []string
	for _, d := range before {
		if d.State == Due {
			due = append(due, d.Path)
		}
	}
	if len(due) != 1 || due[0] != gone {
		t.Errorf("the plan has %q due", due)
	}
	after := w.clean()
	w.holds(map[string]bool{gone: false, resting: true, deep: true})
	if o := after["claude-code:gone"]; !o.Removed || o.Failed != nil || o.Bytes == 0 {
		t.Errorf("got %+v", o)
	}
	if len(before) != len(after) {
		t.Errorf("the plan has %d folders, the cleaning %d", len(before), len(after))
	}
	if _, err := os.Lstat(filepath.Join(w.Root, "a-link")); err != nil {
		t.Error(err)
	}
}

func TestAFolderStaysWhileAnOpenRowHasIt(t *testing.T) {
	w := newWorld(t)
	own, inherited, resumed, free := w.made("own", 8), w.made("inherited", 8), w.made("resumed", 8), w.made("free", 8)
	byID, byConversation := w.made("claude-x", 8), w.made("claude-code:0f0e", 8)
	ended := ledger.At(w.Now)
	w.row(&ledger.Entry{Scratch: ledger.Ptr(own)})
	parent := w.row(&ledger.Entry{Scratch: ledger.Ptr(inherited), FinishedAt: ended})
	w.row(&ledger.Entry{ParentLedgerID: ledger.Ptr(parent)})
	first := w.row(&ledger.Entry{Scratch: ledger.Ptr(resumed), FinishedAt: ended})
	second := w.row(&ledger.Entry{ResumedFrom: ledger.Ptr(first), FinishedAt: ended})
	w.row(&ledger.Entry{ResumedFrom: ledger.Ptr(second)})
	w.row(&ledger.Entry{SessionIDs: []ledger.Conversation{{ID: "0f0e"}}})
	w.row(&ledger.Entry{Scratch: ledger.Ptr(free), FinishedAt: ended})
	named := filepath.Join(w.Root, w.row(&ledger.Entry{}))
	w.must(os.Rename(byID, named), os.Remove(filepath.Join(named, ".session")))
	w.age(named, 8)
	w.clean()
	w.holds(map[string]bool{own: true, inherited: true, resumed: true, free: false, named: true, byConversation: true})
}

func TestALostSessionKeepsItsFolderUntilItIsDismissed(t *testing.T) {
	w := newWorld(t)
	dir := w.made("lost", 8)
	ended := ledger.At(w.Now)
	lost := w.row(&ledger.Entry{Scratch: ledger.Ptr(dir), FinishedAt: ended, Interactive: ledger.Ptr(true), EndedBy: ledger.Ptr(ledger.EndedByLoss)})
	w.clean()
	w.holds(map[string]bool{dir: true})
	w.must(w.Ledger.Update(lost, ledger.Within(time.Minute), func(e *ledger.Entry) error {
		e.EndedBy, e.FinishReason = ledger.Ptr(ledger.EndedByUser), ledger.Ptr(ledger.ReasonDismissed)
		return nil
	}))
	w.clean()
	w.holds(map[string]bool{dir: false})
}

func TestAnUnreadableLedgerKeepsEverything(t *testing.T) {
	w := newWorld(t)
	dir := w.made("x", 8)
	id := w.row(&ledger.Entry{FinishedAt: ledger.At(w.Now)})
	w.must(os.WriteFile(w.Ledger.EntryPath(id), []byte("{torn"), 0o600))
	if o := w.clean()["x"]; o.State != Unproved {
		t.Errorf("got %s: %s", o.State, o.Why)
	}
	w.holds(map[string]bool{dir: true})
}

func TestLeasesKeepTheirSessionsFolders(t *testing.T) {
	const head = `{"schema":"openagents.lease.table.v1","next_seq":3,"leases":[`
	lease := func(id, session string) string {
		return `{"id":"` + id + `","resource":"build","state":"held","holder":{"session":"` + session + `","agent":"codex","pid":1,"command":"cargo"}}`
	}
	for _, tc := range []struct {
		name, table string
		kept        bool
	}{
		{"none", head + "]}", false},
		{"held by a live holder", head + lease("a", "codex:1") + "]}", true},
		{"its holder is gone", head + lease("b", "codex:1") + "]}", false},
		{"its lock is gone", head + lease("none", "codex:1") + "]}", false},
		{"another session's", head + lease("a", "codex:2") + "]}", false},
		{"another's dead, then its own", head + lease("b", "codex:2") + "," + lease("a", "codex:1") + "]}", true},
		{"torn", head + lease("a", "codex:2"), true},
		{"empty file", "", true},
		{"another schema", `{"schema":"openagents.lease.table.v2","leases":[]}`, true},
		{"no schema", `{"leases":[]}`, true},
		{"no leases", `{"schema":"openagents.lease.table.v1"}`, true},
		{"a path for an id", head + lease("../../x", "codex:2") + "]}", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			dir := w.made("codex:1", 8)
			// codex:1 names a process, which must be gone for the rest to count.
			w.must(scratch.Bind(dir, process.Identity{BootID: "another boot", PID: 1, StartTicks: 1}, hostname(w)))
			w.age(dir, 8)
			w.must(os.Mkdir(filepath.Join(w.LeaseRoot, "held"), 0o700))
			for _, name := range []string{"a.lock", "b.lock"} {
				f, err := os.Create(filepath.Join(w.LeaseRoot, "held", name))
				w.must(err)
				defer f.Close()
				if name == "a.lock" {
					w.must(unix.Flock(int(f.Fd()), unix.LOCK_EX))
				}
			}
			w.lease(tc.table)
			w.clean()
			w.holds(map[string]bool{dir: tc.kept})
			if raw, err := os.ReadFile(filepath.Join(w.LeaseRoot, "table.json")); err != nil || string(raw) != tc.table {
				t.Errorf("the table is %q now, %v", raw, err)
			}
		})
	}
	t.Run("unreadable", func(t *testing.T) {
		w := newWorld(t)
		dir := w.made("x", 8)
		w.must(os.Mkdir(filepath.Join(w.LeaseRoot, "table.json"), 0o700))
		w.clean()
		w.holds(map[string]bool{dir: true})
	})
}

func TestASessionNamedByAProcessEndsWithIt(t *testing.T) {
	self, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	other := self
	other.StartTicks++
	pid := strconv.Itoa(os.Getpid())
	w := newWorld(t)
	bind := func(dir string, id process.Identity) string {
		w.must(scratch.Bind(dir, id, hostname(w)))
		w.age(dir, 8)
		return dir
	}
	runs := bind(w.made("codex:"+pid, 8), self)
	reused := bind(w.made("claude:"+pid, 8), other)
	unbound := w.made("process:"+pid, 8) // no process was bound: it may be that one
	nobody := w.made("codex:4194304", 8) // above every pid there can be
	noProcess := w.made("studio-seat:"+pid, 8)
	elsewhere := w.made("gemini:"+pid, 8)
	w.must(scratch.Bind(elsewhere, other, "another machine"))
	w.age(elsewhere, 8)
	w.clean()
	w.holds(map[string]bool{runs: true, reused: false, unbound: true, nobody: false, noProcess: false, elsewhere: true})
}

func hostname(w *world) string {
	w.Helper()
	name, err := os.Hostname()
	w.must(err)
	return name
}

func TestAProcessInAFolderKeepsIt(t *testing.T) { isolate.Test(t, processKeepsFolder) }

func processKeepsFolder(t *testing.T) {
	w := newWorld(t)
	dirs := map[string]string{}
	for _, how := range []string{"cwd", "descriptor", "free"} {
		dirs[how] = w.made(how, 8)
	}
	for how, command := range map[string]string{"cwd": "cd '" + dirs["cwd"] + "/sub' && echo there && read x", "descriptor": "exec 7<'" + dirs["descriptor"] + "/sub/file' && echo there && read x"} {
		cmd := exec.Command("sh", "-c", command)
		in, err := cmd.StdinPipe()
		out, oerr := cmd.StdoutPipe()
		w.must(err, oerr, cmd.Start())
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		defer func() { in.Close(); _ = cmd.Wait() }()
	}
	outcomes := w.clean()
	w.holds(map[string]bool{dirs["cwd"]: true, dirs["descriptor"]: true, dirs["free"]: false})
	if o := outcomes["cwd"]; o.State != InUse || !strings.Contains(o.Why, "(sh) has its working directory there") {
		t.Errorf("got %s: %s", o.State, o.Why)
	}
}
