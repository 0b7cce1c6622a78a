// Package standin is a CLI that stands in for a real one where a test or the
// demo needs one that is quick and does as it is told. It behaves as Claude
// Code does towards the outside: its flags, its transcript, its hooks, its
// signals and exit codes. Whoever runs it does so under the name it plays.
//
// At its prompt it knows
//
//	/exit [CODE]  end, with this exit code
//	!COMMAND      run a shell command as a tool call does
//	count N       answer with N lines, ten a second
//	wait FIFO     answer when someone writes to this FIFO
//
// and answers anything else at once.
package standin

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Main plays the CLI of the process's own name and does not return.
func Main() {
	s := &session{name: filepath.Base(os.Args[0]), id: newID(), out: os.Stdout}
	os.Exit(s.run(os.Args[1:]))
}

// session is one run of the CLI.
type session struct {
	name string
	id   string // of the conversation
	out  io.Writer
}

func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (s *session) run(args []string) int {
	source, prompt, first, headless := "startup", "", "", false
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--version":
			fmt.Fprintln(s.out, s.name, "0.0.0 (stand-in)")
			return 0
		case arg == "-p":
			headless = true
		case arg == "--resume" && i+1 < len(args):
			i++
			s.id, source = args[i], "resume"
		case arg == "--" && i+1 < len(args):
			i++
			first = args[i]
		default:
			prompt = arg
		}
	}
	s.onSignals()
	s.hook("SessionStart", "source", source)
	if headless {
		s.turn(prompt)
		s.hook("SessionEnd", "reason", "other")
		return 0
	}
	code := s.talk(source, first)
	s.hook("SessionEnd", "reason", "prompt_input_exit")
	return code
}

// onSignals ends as Claude Code does: its end hook runs, then 128 and the
// signal's number.
func (s *session) onSignals() {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		got := <-caught
		s.hook("SessionEnd", "reason", "other")
		os.Exit(128 + int(got.(syscall.Signal)))
	}()
}

// talk is the conversation at the terminal; it returns the exit code.
func (s *session) talk(source, first string) int {
	fmt.Fprintf(s.out, "\x1b]0;%s\a\x1b[1m✻ %s\x1b[0m, a stand-in (%s)\n\x1b[32m>\x1b[0m ", s.name, s.name, source)
	if first != "" {
		s.turn(first)
		fmt.Fprint(s.out, "\x1b[32m>\x1b[0m ")
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		line := strings.TrimSpace(in.Text())
		if rest, ok := strings.CutPrefix(line, "/exit"); ok {
			code, _ := strconv.Atoi(strings.TrimSpace(rest))
			return code
		}
		if line != "" {
			s.turn(line)
		}
		fmt.Fprint(s.out, "\x1b[32m>\x1b[0m ")
	}
	return 0
}

// turn answers a prompt, and whatever a Stop hook asks for behind it.
func (s *session) turn(prompt string) {
	for prompt != "" {
		s.hook("UserPromptSubmit", "prompt", prompt)
		s.record("user", prompt)
		s.record("assistant", s.answer(prompt))
		prompt = s.hook("Stop", "stop_hook_active", "")
	}
}

// answer prints an answer and returns it.
func (s *session) answer(prompt string) string {
	said := &strings.Builder{}
	out := io.MultiWriter(s.out, said)
	word, rest, _ := strings.Cut(prompt, " ")
	n, err := strconv.Atoi(rest)
	switch {
	case strings.HasPrefix(prompt, "!"):
		tool := exec.Command("/bin/sh", "-c", prompt[1:])
		tool.Stdout, tool.Stderr = out, out
		tool.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := tool.Run(); err != nil {
			fmt.Fprintln(out, err)
		}
	case word == "count" && err == nil:
		for i := range n {
			fmt.Fprintf(out, "line %d\n", i+1)
			time.Sleep(100 * time.Millisecond)
		}
		fmt.Fprintln(out, "counted to", n)
	case word == "wait" && rest != "":
		fmt.Fprintln(out, "waiting")
		told, err := os.ReadFile(rest)
		fmt.Fprintf(out, "waited: %s %v\n", strings.TrimSpace(string(told)), err)
	default:
		fmt.Fprintln(out, "You said:", prompt)
	}
	return said.String()
}
