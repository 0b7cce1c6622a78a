package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

func TestRealTranscripts(t *testing.T) {
	for _, tc := range []struct{ file, title, activity string }{
		{"claude.interactive-task-rename-compact-clear", "my-custom-name", "mock reply to:"},
		{"claude.interactive-after-clear-perm-interrupt-bang", "my-custom-name", "<146 characters>"},
		{"claude.kill9-mid-turn", "Mock session title", "mock reply to: hello from kill9 mid-turn"},
		{"codex.rollout", "RUN: env | sort > /home/user/work/codex_tui3_tool_env.txt", "MOCK-REPLY 34: again from other cwd"},
		{"gemini.session", "<91 characters>", "MOCK-TOOL-DONE 44."},
		{"copilot.events", "RUN: /home/user/work/samples/toolprobe.sh copilot", "<75 characters>"},
		{"qwen.chat", "RUN: /home/user/work/samples/toolprobe.sh qwen", "MOCK-REPLY 37: again"},
	} {
		runtime, _, _ := strings.Cut(tc.file, ".")
		d, err := Read(runtime, filepath.Join("testdata", tc.file+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if d.Title != tc.title || d.Activity != tc.activity || !d.Interrupted.IsZero() {
			t.Errorf("%s: title %q, activity %q, interrupted %v", tc.file, d.Title, d.Activity, d.Interrupted)
		}
	}
}

// upTo is a real transcript as it stood right after its n-th line that holds
// the mark.
func upTo(t *testing.T, file, mark string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(raw, []byte(mark))
	if at < 0 {
		t.Fatalf("%s does not hold %q", file, mark)
	}
	return raw[:at+bytes.IndexByte(raw[at:], '\n')+1]
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, runtime string, data []byte) Digest {
	t.Helper()
	d, err := Read(runtime, write(t, data))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWhileTheModelWorks(t *testing.T) {
	d := read(t, "claude", upTo(t, "claude.interactive-after-clear-perm-interrupt-bang.jsonl", `"tool_use", "id"`))
	if d.Activity != "Bash: touch /home/user/work/x1" {
		t.Errorf("activity %q", d.Activity)
	}
	d = read(t, "codex", upTo(t, "codex.rollout.jsonl", `"function_call"`))
	if d.Activity != "exec_command: env | sort > /home/user/work/codex_tui3_tool_env.txt" {
		t.Errorf("activity %q", d.Activity)
	}
}

func TestATurnThatTheUserBrokeOff(t *testing.T) {
	d := read(t, "claude", upTo(t, "claude.interactive-after-clear-perm-interrupt-bang.jsonl", `[Request interrupted by user]"`))
	if want := time.Date(2026, 11, 29, 20, 48, 38, 336e6, time.UTC); !d.Interrupted.Equal(want) {
		t.Errorf("interrupted at %v, want %v", d.Interrupted, want)
	}
	d = read(t, "claude", upTo(t, "claude.interactive-after-clear-perm-interrupt-bang.jsonl", "bangcmd</bash-input>"))
	if !d.Interrupted.IsZero() {
		t.Error("the next prompt does not end the interruption")
	}
}

func prompt(text string) string {
	return `{"type":"user","message":{"role":"user","content":"` + text + `"},"promptSource":"typed"}` + "\n"
}

func said(text string) string {
	return `{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
}

func TestTheWindowsOfHugeAndOddFiles(t *testing.T) {
	filler := strings.Repeat(`{"type":"attachment","x":"`+strings.Repeat("y", 1000)+"\"}\n", 300)
	long := `{"type":"user","message":{"content":"` + strings.Repeat("z", 12<<20) + `"}}` + "\n"
	for _, tc := range []struct{ name, data, title, activity string }{
		{"empty", "", "", ""},
		{"one line", prompt("hi"), "hi", ""},
		{"head and tail apart", prompt("first") + filler + said("done"), "first", "done"},
		{"the tail's title wins over the head's", `{"type":"ai-title","aiTitle":"old"}` + "\n" + filler + `{"type":"ai-title","aiTitle":"new"}` + "\n", "new", ""},
		{"a custom title wins over a later one of the CLI's", `{"type":"custom-title","customTitle":"mine"}` + "\n" + `{"type":"ai-title","aiTitle":"its"}` + "\n", "mine", ""},
		{"a title in a text is none", `{"type":"assistant","message":{"content":[{"type":"text","text":"\"type\":\"custom-title\""}]},"custom-title":1}` + "\n" + prompt("p"), "p", `"type":"custom-title"`},
		{"cc#24118: one line of 12 MB at the end", prompt("p") + said("before") + long, "p", ""},
		{"one line of 12 MB first", long + said("after"), "", "after"},
		{"nothing but one line without an end", `{"type":"user","message":{"content":"` + strings.Repeat("z", 1<<20), "", ""},
		{"an unfinished last line", prompt("p") + said("whole") + `{"type":"assistant","message":{"content":[{"type":"te`, "p", "whole"},
		{"a last line that only lacks its newline", prompt("p") + strings.TrimSuffix(said("whole"), "\n"), "p", "whole"},
		{"damage between lines", prompt("p") + "\x00\x00}{\n[\n" + said("x") + "nonsense\n", "p", "x"},
		{"invalid UTF-8", prompt("p\xff\xfeq") + said("\xc3("), "p\uFFFDq", "\uFFFD("},
		{"subagents' lines", `{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"sub"}]}}` + "\n", "", ""},
		{"control characters become blanks or stay for the printer", prompt(`a\n\tb`), "a b", ""},
		{"a long prompt is cut", prompt(strings.Repeat("é", 5000)), strings.Repeat("é", 100) + "…", ""},
		{"arrays, numbers, nulls", "[1]\n7\nnull\n\"s\"\n{}\n", "", ""},
	} {
		d := read(t, "claude", []byte(tc.data))
		if d.Title != tc.title || d.Activity != tc.activity || d.Size != int64(len(tc.data)) {
			t.Errorf("%s: title %.40q, activity %.40q, %d bytes", tc.name, d.Title, d.Activity, d.Size)
		}
	}
}

func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	fifo, loop := filepath.Join(dir, "fifo"), filepath.Join(dir, "loop")
	if err := errors.Join(unix.Mkfifo(fifo, 0o600), os.Symlink(loop, loop)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{fifo: ErrNotRegular, loop: unix.ELOOP, dir: ErrNotRegular, dir + "/none": fs.ErrNotExist, "/dev/zero": ErrNotRegular} {
		for _, runtime := range []string{"claude", "unheard-of"} {
			if _, err := Read(runtime, path); !errors.Is(err, want) {
				t.Errorf("%s of %s: %v, want %v", path, runtime, err, want)
			}
		}
		if _, err := IsSidechain(path); err == nil {
			t.Errorf("%s has a first line", path)
		}
	}
}

func TestReadingLeavesTheTimesAlone(t *testing.T) {
	path := write(t, []byte(prompt("p")))
	old := time.Now().Add(-100 * 24 * time.Hour).Truncate(time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := Read("claude", path); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	if st.Atim.Sec != old.Unix() || st.Mtim.Sec != old.Unix() {
		t.Errorf("read at %d, changed at %d, want %d", st.Atim.Sec, st.Mtim.Sec, old.Unix())
	}
}

func TestAFileThatGrowsAndShrinksMeanwhile(t *testing.T) {
	path := write(t, []byte(prompt("p")))
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			data := []byte(prompt("p") + strings.Repeat(said(fmt.Sprint(n)), n%2000))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 300 {
		if d, err := Read("claude", path); err != nil || d.Title != "" && d.Title != "p" {
			t.Errorf("%+v, %v", d, err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestIsSidechain(t *testing.T) {
	for file, want := range map[string]bool{"claude.subagent.jsonl": true, "claude.kill9-mid-turn.jsonl": false} {
		if got, err := IsSidechain(filepath.Join("testdata", file)); err != nil || got != want {
			t.Errorf("%s: %v, %v", file, got, err)
		}
	}
}

func TestFindClaude(t *testing.T) {
	home := t.TempDir()
	put := func(dir, id string, age time.Duration) string {
		path := filepath.Join(home, "projects", dir, id+".jsonl")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	here := put("-no-such-dir-a-b", "id-1", time.Hour)
	put("-elsewhere", "id-1", 0)
	moved := put("-elsewhere", "id-2", time.Minute)
	put("-third", "id-2", time.Hour)
	for _, tc := range []struct{ id, cwd, want string }{
		{"id-1", "/no/such.dir/a_b", here},
		{"id-2", "/no/such.dir/a_b", moved},
		{"id-2", "", moved},
		{"id-3", "/", ""},
		{"../-elsewhere/id-2", "/", ""},
		{"", "/", ""},
	} {
		if got, err := FindClaude(home, tc.id, tc.cwd); err != nil || got != tc.want {
			t.Errorf("%q from %q: %q, %v, want %q", tc.id, tc.cwd, got, err, tc.want)
		}
	}
	if got, err := FindClaude(filepath.Join(home, "none"), "id-1", ""); got != "" || err != nil {
		t.Errorf("no folder: %q, %v", got, err)
	}
}

func FuzzRead(f *testing.F) {
	samples, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(samples) == 0 {
		f.Fatal(samples, err)
	}
	for _, sample := range samples {
		raw, err := os.ReadFile(sample)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[:min(len(raw), 8<<10)])
	}
	f.Add([]byte(prompt("p") + said("x")))
	f.Fuzz(func(t *testing.T, data []byte) {
		for runtime, s := range shapes {
			d := Digest{Info: Info{Size: int64(len(data))}}
			if err := d.fill(bytes.NewReader(data), s); err != nil {
				t.Fatal(runtime, err)
			}
			for _, text := range []string{d.Title, d.Activity} {
				if !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r") || len(text) > textLimit+len("…") {
					t.Errorf("%s: %q", runtime, text)
				}
			}
		}
	})
}
