package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentwrap/test/isolate"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestTerminal(t *testing.T) {
	for name, body := range map[string]func(t *testing.T, w *World){
		"keys, screen and scrollback":     testKeys,
		"exit codes and the last line":    testExit,
		"size":                            testSize,
		"death by SIGKILL hangs up":       func(t *testing.T, w *World) { testHangUp(t, w, (*Terminal).Kill) },
		"a lost connection hangs up":      func(t *testing.T, w *World) { testHangUp(t, w, (*Terminal).HangUp) },
		"queries are answered":            testQueries,
		"the environment is the world's":  testEnvironment,
		"a grandchild that holds the pty": testGrandchild,
	} {
		t.Run(name, func(t *testing.T) { Test(t, nil, body) })
	}
}

func testKeys(t *testing.T, w *World) {
	term := w.Open(t, "sh", "-c", `seq 100; read -r line; echo "got <$line>"; read -r line`)
	term.WaitText("\n100")
	term.Submit("a word")
	term.WaitText("got <a word>")
	if s := term.Screen(); strings.Contains(s, "\n50\n") {
		t.Errorf("line 50 is still on the screen:\n%s", s)
	}
	if h := term.History(); !strings.HasPrefix(h, "1\n2\n") || !strings.Contains(h, "\n50\n") {
		t.Errorf("history:\n%s", h)
	}
}

func testExit(t *testing.T, w *World) {
	for script, want := range map[string]Status{
		"exit 0":     {Known: true},
		"exit 7":     {Known: true, Code: 7},
		"kill -9 $$": {Known: true, Code: -1, Signal: 9},
	} {
		for i := range 10 {
			term := w.Open(t, "sh", "-c", fmt.Sprintf("seq 200; echo last %d; %s", i, script))
			if got := term.WaitExit(); got != want {
				t.Errorf("%s: got %+v, want %+v", script, got, want)
			}
			if got, want := term.Raw(), fmt.Sprintf("\r\n200\r\nlast %d\r\n", i); !bytes.HasSuffix(got, []byte(want)) {
				t.Fatalf("%s: the output ends in %q", script, got[max(0, len(got)-40):])
			}
		}
	}
}

func testSize(t *testing.T, w *World) {
	term := w.Open(t, "bash", "-c", `trap 'echo now $(stty size)' WINCH; echo was $(stty size); sleep 1000 & wait; read -r line`)
	term.WaitText("was 30 100")
	term.Resize(80, 24)
	term.WaitText("now 24 80")
}

func testHangUp(t *testing.T, w *World, end func(*Terminal)) {
	fifo := filepath.Join(w.Root, "fifo")
	if got := w.Run(t, "", "mkfifo", fifo); got.Code != 0 {
		t.Fatal(got.Stderr)
	}
	term := w.Open(t, "bash", "-c", `trap 'echo hung up > "$0"; exit' HUP; echo ready; while :; do read -r line; done`, fifo)
	term.WaitText("ready")
	end(term)
	if data, err := os.ReadFile(fifo); string(data) != "hung up\n" {
		t.Errorf("the command wrote %q, %v", data, err)
	}
	if got := term.WaitExit(); got.Known {
		t.Errorf("the dead terminal reported %+v", got)
	}
}

func testQueries(t *testing.T, w *World) {
	term := w.Open(t, "bash", "-c", `printf 'ab\e[6n'; read -rs -d R reply; printf '\n<%q>\n' "$reply"; read -r line`)
	term.WaitText(`\E[1;3`)
}

func testEnvironment(t *testing.T, w *World) {
	direct := w.Run(t, "", "env").Stdout
	file := filepath.Join(w.Root, "env")
	w.Open(t, "sh", "-c", `env > "$0"`, file).WaitExit()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		name, _, _ := strings.Cut(line, "=")
		if !strings.Contains(direct, line+"\n") && name != "_" && name != "PWD" && name != "SHLVL" && line != "" {
			t.Errorf("in the terminal alone: %s", line)
		}
	}
	if strings.Contains(string(data), "AGENTWRAP_") {
		t.Errorf("the harness shows: %s", data)
	}
}

func testGrandchild(t *testing.T, w *World) {
	term := w.Open(t, "sh", "-c", `(trap '' HUP; exec sleep 1000) & echo last; exit 3`)
	if got, want := term.WaitExit(), (Status{Known: true, Code: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	term.WaitText("last")
}

func TestInstallIsIdempotent(t *testing.T) {
	if isolate.Inside() {
		return
	}
	cache := t.TempDir()
	t.Setenv("AGENTWRAP_TEST_CACHE", cache)
	bin := filepath.Join(cache, "claude-"+claudeVersion, "node_modules", ".bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "claude"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "") // no npm: what is there must be enough
	if got := Install(t, Claude); got != bin {
		t.Errorf("got %s, want %s", got, bin)
	}
}
