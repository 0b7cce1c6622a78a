package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"agentwrap/internal/ledger"
)

// inTree makes a working tree with a repository and goes there.
func (d *desk) inTree() (tree string) {
	d.Helper()
	tree = filepath.Join(d.home, "tree")
	if out, err := exec.Command("git", "init", "-q", tree).CombinedOutput(); err != nil {
		d.Fatalf("%v: %s", err, out)
	}
	if err := os.Mkdir(filepath.Join(tree, "sub"), 0o755); err != nil {
		d.Fatal(err)
	}
	d.Chdir(filepath.Join(tree, "sub"))
	return tree
}

func TestContextFilesAreAddedListedAndFound(t *testing.T) {
	d := newDesk(t)
	tree := d.inTree()
	own := "AGENT_LEDGER_ID=" + d.row(&ledger.Entry{})
	d.in = "from standard input"
	path := strings.TrimSpace(d.does(own, "context", "add", "features", "user-auth", "--for", "@TaskManager", "-k", "auth", "-k", "login"))
	if raw, err := os.ReadFile(path); err != nil || string(raw) != d.in || !strings.HasPrefix(path, tree+"/.tmp/sessions/") {
		t.Errorf("%s: %q, %v", path, raw, err)
	}
	if err := os.WriteFile("notes.md", []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := strings.TrimSpace(d.does(own, "context", "add", "tasks", "user-auth", "notes.md", "--keyword", "auth"))
	if list := d.does(own, "context", "list"); list != path+"\t@TaskManager\tauth, login\t"+stampOf(d)+"\n"+second+"\t\tauth\t"+stampOf(d)+"\n" {
		t.Errorf("listed %q", list)
	}
	if found := d.does(own, "context", "find", "login"); !strings.HasPrefix(found, path+"\t") || strings.Count(found, "\n") != 1 {
		t.Errorf("found %q", found)
	}
	var items []contextItem
	if err := json.Unmarshal([]byte(d.does(own, "context", "find", "auth", "--json")), &items); err != nil || len(items) != 2 || items[1].Path != second || items[0].For != "@TaskManager" {
		t.Errorf("found %+v, %v", items, err)
	}
	if out, err := exec.Command("git", "-C", tree, "status", "--porcelain").CombinedOutput(); err != nil || string(out) != "?? sub/\n" {
		t.Errorf("git sees %q, %v", out, err)
	}
}

func stampOf(d *desk) string { return ledger.At(d.now).String() }

func TestContextSaysWhatIsWrong(t *testing.T) {
	d := newDesk(t)
	tree := d.inTree()
	own := "AGENT_LEDGER_ID=" + d.row(&ledger.Entry{})
	for _, tc := range []struct {
		argv []string
		code int
		want string
	}{
		{[]string{own, "context", "list"}, exitNoSession, "'context add' begins one"},
		{[]string{own, "context", "add", "feature", "x"}, exitWrongUse, "they are features, documentation, code, tasks, general"},
		{[]string{own, "context", "add", "code", "../x"}, exitWrongUse, "cannot be a task's name"},
		{[]string{own, "context", "add", "code", "x", "none.md"}, exitFailed, "none.md"},
		{[]string{own, "context", "add", "code", "x"}, exitDone, ""},
		{[]string{own, "context", "add", "code", "x", "../.git/HEAD"}, exitRefused, "--replace"},
		{[]string{own, "context", "find", "nothing"}, exitFailed, "keyword"},
		{[]string{"context", "list"}, exitNoSession, "choose one with --session: 2"},
		{[]string{own, "context", "list", "--session", "../x"}, exitNoSession, "no such session"},
		{[]string{own, "context", "clean"}, exitRefused, "add --yes"},
	} {
		if stdout, stderr, code := d.run(tc.argv...); code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", tc.argv[1:], code, stdout, stderr)
		}
	}
	if err := os.RemoveAll(tree + "/.tmp"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(d.home, tree+"/.tmp"); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := d.run(own, "context", "add", "code", "x"); code != exitFailed || !strings.Contains(stderr, "pass the context inline instead") {
		t.Errorf("a link for .tmp: exit %d, stderr %q", code, stderr)
	}
}

// cleanOnTerminal runs `context clean` with a terminal on which the answer is
// typed.
func (d *desk) cleanOnTerminal(answer string, argv ...string) (stdout, stderr string, code int) {
	d.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		d.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	if _, err := master.WriteString(answer); err != nil {
		d.Fatal(err)
	}
	var out, errs bytes.Buffer
	a := &app{in: tty, out: &out, err: &errs, env: append(d.env[:len(d.env):len(d.env)], argv[0]), now: systemApp().now}
	code = call(a, append([]string{"agent-sessions", "context", "clean"}, argv[1:]...))
	return out.String(), errs.String(), code
}

func TestContextCleanShowsAsksAndDoesNothingByDefault(t *testing.T) {
	d := newDesk(t)
	tree := d.inTree()
	own := "AGENT_LEDGER_ID=" + d.row(&ledger.Entry{})
	path := strings.TrimSpace(d.does(own, "context", "add", "code", "x"))
	for _, answer := range []string{"\n", "n\n", "what\n", "\x04"} {
		stdout, stderr, code := d.cleanOnTerminal(answer, own)
		if code != exitRefused || !strings.Contains(stdout, "  delete  code/x-context.md\n") || !strings.Contains(stderr, "Delete these files? [y/N] ") {
			t.Errorf("%q: exit %d, %q, %q", answer, code, stdout, stderr)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Fatalf("%q: %v", answer, err)
		}
	}
	if err := os.WriteFile(filepath.Dir(path)+"/mine", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := d.cleanOnTerminal("y\n", own)
	if code != exitDone || !strings.Contains(stdout, "  leave   code/mine: it is not tracked\n") || !strings.HasSuffix(stdout, "deleted 1 of 1 files, left 1\n") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("it is still there")
	}
	if err := os.Remove(filepath.Dir(path) + "/mine"); err != nil {
		t.Fatal(err)
	}
	d.does(own, "context", "clean", "--yes")
	if left, _ := filepath.Glob(tree + "/.tmp/sessions/2*"); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

func TestContextCleanLeavesAnotherOpenSessionsFilesAlone(t *testing.T) {
	d := newDesk(t)
	d.inTree()
	own := "AGENT_LEDGER_ID=" + d.row(&ledger.Entry{})
	path := strings.TrimSpace(d.does(own, "context", "add", "code", "x"))
	session := filepath.Base(filepath.Dir(filepath.Dir(path)))
	other := "AGENT_LEDGER_ID=" + d.row(&ledger.Entry{})
	if _, stderr, code := d.run(other, "context", "clean", "--yes", "--session", session); code != exitRefused || !strings.Contains(stderr, "which is not over") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}
