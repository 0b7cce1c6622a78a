package runstore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentwrap/internal/statefile"
)

func TestEventsAreReadFromAnOffsetCompleteLinesOnly(t *testing.T) {
	s := newStore(t)
	code := 0
	must(t, s.AppendEvent(id, Event{Type: EventToolCall, Tool: "Bash", ToolInput: []byte(`{"command":"ls"}`), Output: "x", Stderr: "e", ExitCode: &code, Role: "assistant", Phase: "p", ID: "1"}))
	raw, err := os.ReadFile(s.eventsPath(id))
	want := `{"id":"1","type":"tool_call","role":"assistant","phase":"p","timestamp":"2026-08-07T12:00:00Z","tool":"Bash","tool_input":{"command":"ls"},"output":"x","stderr":"e","exit_code":0}` + "\n"
	if err != nil || string(raw) != want {
		t.Errorf("got %s, %v", raw, err)
	}
	_, first, err := s.ReadEvents(id, 0)
	must(t, err, s.AppendEvent(id, Event{Type: EventMessage, Text: "two\nlines", Timestamp: "then"}))
	events, second, err := s.ReadEvents(id, first)
	if err != nil || len(events) != 1 || events[0].Text != "two\nlines" || events[0].Timestamp != "then" {
		t.Errorf("got %+v, %v", events, err)
	}
	if events, again, err := s.ReadEvents(id, second); err != nil || len(events) != 0 || again != second {
		t.Errorf("at the end: %+v, %d, %v", events, again, err)
	}
	must(t, statefile.Append(s.eventsPath(id), []byte(`{"type":"torn","te`)))
	if events, again, err := s.ReadEvents(id, second); err != nil || len(events) != 0 || again != second {
		t.Errorf("a line that is being written: %+v, %d, %v", events, again, err)
	}
	must(t, s.AppendEvent(id, Event{Type: EventDone}))
	events, _, err = s.ReadEvents(id, second)
	if err != nil || len(events) != 1 || events[0].Type != EventDone {
		t.Errorf("behind a torn line: %+v, %v", events, err)
	}
	if events, _, err = s.ReadEvents(id, first+3); err != nil || len(events) != 1 || events[0].Type != EventDone {
		t.Errorf("from the middle of a line: %+v, %v", events, err)
	}
	if _, _, err := s.ReadEvents(id, -1); err == nil {
		t.Error("a negative offset was taken")
	}
	if events, at, err := s.ReadEvents(id, 1<<40); err != nil || len(events) != 0 || at != 1<<40 {
		t.Errorf("behind the end: %+v, %d, %v", events, at, err)
	}
}

func TestALineWithoutEndIsPassedOver(t *testing.T) {
	s := newStore(t)
	must(t, s.AppendEvent(id, Event{Type: "a"}), statefile.Append(s.eventsPath(id), append(make([]byte, lineLimit+1), '\n')), s.AppendEvent(id, Event{Type: "b"}))
	if events, _, err := s.ReadEvents(id, 0); err != nil || len(events) != 2 {
		t.Errorf("got %d, %v", len(events), err)
	}
}

func texts(messages []Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.ID+" "+m.Text)
	}
	return strings.Join(all, ", ")
}

func TestMessagesAreFirstInFirstOutAndNumbersNeverComeTwice(t *testing.T) {
	s := newStore(t)
	for _, text := range []string{"a", "b", "c"} {
		_, err := s.AppendMessage(id, text)
		must(t, err)
	}
	if list, err := s.ListMessages(id); err != nil || texts(list) != "msg_1 a, msg_2 b, msg_3 c" || list[0].SessionID != id || list[0].CreatedAt != "2026-08-07T12:00:00Z" {
		t.Errorf("list %+v, %v", list, err)
	}
	if popped, err := s.PopMessages(id); err != nil || texts(popped) != "msg_1 a, msg_2 b, msg_3 c" {
		t.Errorf("popped %+v, %v", popped, err)
	}
	if popped, err := s.PopMessages(id); err != nil || len(popped) != 0 {
		t.Errorf("popped again %+v, %v", popped, err)
	}
	m, err := s.AppendMessage(id, "d")
	must(t, err)
	if dropped, err := s.DropMessage(id, "4"); err != nil || dropped != m {
		t.Errorf("dropped %+v, %v", dropped, err)
	}
	if _, err := s.DropMessage(id, "4"); err == nil {
		t.Error("dropped twice")
	}
	must(t, os.Remove(s.path(id, ".messages-numbered")))
	must(t, os.WriteFile(s.messagesPath(id), []byte(`{"id":"msg_9","text":"other","session_id":"x","created_at":"","extra":[1]}`+"\n"), 0o600))
	if m, err := s.AppendMessage(id, "e"); err != nil || m.ID != "msg_10" {
		t.Errorf("got %+v, %v", m, err)
	}
	if raw, _ := os.ReadFile(s.messagesPath(id)); !strings.Contains(string(raw), `"extra":[1]`) {
		t.Errorf("a field was lost: %s", raw)
	}
	if _, err := s.AppendMessage(id, strings.Repeat("x", TextLimit+1)); err == nil {
		t.Error("a text of any length was kept")
	}
}

func TestDamagedMessagesAreSetAsideAndTheRestStays(t *testing.T) {
	s := newStore(t)
	_, err := s.AppendMessage(id, "a")
	must(t, err, statefile.Append(s.messagesPath(id), []byte("garbage\n{\"id\":\"msg_7\",\"text\":\"b\"}\n{\"id\":\"msg_8\",\"te")))
	if list, err := s.ListMessages(id); err != nil || texts(list) != "msg_1 a, msg_7 b" {
		t.Errorf("list %+v, %v", list, err)
	}
	_, err = s.AppendMessage(id, "c")
	must(t, err)
	if list, err := s.ListMessages(id); err != nil || texts(list) != "msg_1 a, msg_7 b, msg_8 c" {
		t.Errorf("list %+v, %v", list, err)
	}
	if raw, err := os.ReadFile(s.path(id, "messages.damaged")); err != nil || string(raw) != "garbage\n{\"id\":\"msg_8\",\"te\n" {
		t.Errorf("set aside %q, %v", raw, err)
	}
}

// writeVar makes the test binary write to the queue and the log of a store.
const writeVar = "RUNSTORE_TEST_WRITE"

func TestMain(m *testing.M) {
	if os.Getenv(writeVar) == "" {
		os.Exit(m.Run())
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until all are there
	if err := writeAll(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const each = 4

func writeAll(home, writer string) error {
	s, err := NewFileStore(home, os.Getenv)
	for i := range each {
		m, merr := s.AppendMessage(id, writer+" "+strconv.Itoa(i))
		err = errors.Join(err, merr, s.AppendEvent(id, Event{ID: m.ID, Type: EventQueue, Text: writer + " " + strconv.Itoa(i)}))
	}
	return err
}

func TestOf50WritersAtOnceNothingIsLostAndNoIDComesTwice(t *testing.T) {
	s := newStore(t)
	const writers = 50
	start, begin, err := os.Pipe()
	must(t, err)
	var cmds []*exec.Cmd
	for w := range writers {
		cmd := exec.Command("/proc/self/exe", s.Home(), "w"+strconv.Itoa(w))
		cmd.Env, cmd.Stdin, cmd.Stderr = []string{writeVar + "=1"}, start, os.Stderr
		must(t, cmd.Start())
		cmds = append(cmds, cmd)
	}
	begin.Close()
	start.Close()
	for _, cmd := range cmds {
		must(t, cmd.Wait())
	}
	list, err := s.ListMessages(id)
	must(t, err)
	ids, next := map[string]bool{}, map[string]int{}
	for _, m := range list {
		writer, n, _ := strings.Cut(m.Text, " ")
		if strconv.Itoa(next[writer]) != n {
			t.Errorf("%s: message %s comes behind %d others", writer, n, next[writer])
		}
		ids[m.ID], next[writer] = true, next[writer]+1
	}
	events, _, err := s.ReadEvents(id, 0)
	if len(list) != writers*each || len(ids) != len(list) || len(events) != len(list) || err != nil {
		t.Errorf("%d messages with %d ids, %d events, %v", len(list), len(ids), len(events), err)
	}
}

// killVar makes the test binary queue messages and kill itself at one of the
// steps that touch the disk.
const killVar = "RUNSTORE_TEST_KILL"

func TestKilledAtAnyStepTheQueueIsWholeAndNoIDComesTwice(t *testing.T) {
	if spec := os.Getenv(killVar); spec != "" {
		appendUntilKilled(t, spec)
		return
	}
	for n := 1; ; n++ {
		s := newStore(t)
		_, err := s.AppendMessage(id, "before")
		must(t, err)
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), killVar+"="+strconv.Itoa(n)+" "+s.Home())
		out, err := cmd.CombinedOutput()
		if err != nil && !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v\n%s", err, out)
		}
		last, aerr := s.AppendMessage(id, "after")
		must(t, aerr, s.AppendEvent(id, Event{Type: EventDone}))
		list, lerr := s.ListMessages(id)
		must(t, lerr)
		if list[0].Text != "before" || list[len(list)-1] != last || slices.ContainsFunc(list[:len(list)-1], func(m Message) bool { return m.ID == last.ID }) {
			t.Errorf("killed at step %d: %s", n, texts(list))
		}
		if events, _, err := s.ReadEvents(id, 0); err != nil || len(events) == 0 || events[len(events)-1].Type != EventDone {
			t.Errorf("killed at step %d: events %+v, %v", n, events, err)
		}
		if err == nil {
			if n < 10 {
				t.Errorf("only %d steps", n)
			}
			return
		}
	}
}

func appendUntilKilled(t *testing.T, spec string) {
	number, home, _ := strings.Cut(spec, " ")
	n, err := strconv.Atoi(number)
	must(t, err)
	s, err := NewFileStore(home, os.Getenv)
	must(t, err)
	defer statefile.Inject(func(string, string) error {
		if n--; n == 0 {
			return unix.Kill(os.Getpid(), unix.SIGKILL)
		}
		return nil
	})()
	_, err = s.AppendMessage(id, "killed")
	must(t, err, s.AppendEvent(id, Event{Type: EventQueue}))
}
