package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/runstore"
	"agentwrap/internal/runtimes"
	"agentwrap/internal/statefile"
)

const id = "claude-20260807T110001Z-482913"

// world is a session's queue and the transcript of its conversation.
type world struct {
	*testing.T
	Desk
	transcript string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store, err := runstore.NewFileStore(filepath.Join(t.TempDir(), "run"), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return &world{T: t, Desk: Desk{Store: store, Now: time.Now}, transcript: filepath.Join(t.TempDir(), "abc.jsonl")}
}

func (w *world) must(errs ...error) {
	w.Helper()
	if err := errors.Join(errs...); err != nil {
		w.Fatal(err)
	}
}

func (w *world) queued(texts ...string) {
	w.Helper()
	for _, text := range texts {
		_, err := w.Queue(id, text)
		w.must(err)
	}
}

// hears writes a line of the user's into the transcript, in Claude Code's shape.
func (w *world) hears(content string) {
	w.Helper()
	line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": content}})
	f, ferr := os.OpenFile(w.transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	w.must(err, ferr)
	_, err = f.Write(append(line, '\n'))
	w.must(err, f.Close())
}

// stop is the end of a turn; what it is told is heard unless deaf.
func (w *world) stop(again, deaf bool) string {
	w.Helper()
	text, err := w.AtStop(Moment{SessionID: id, Transcript: w.transcript, Again: again})
	w.must(err)
	if text != "" && !deaf {
		w.hears(stopFeedback + text)
	}
	return strings.TrimPrefix(text, introduction)
}

// states are the messages in the queue with what became of each.
func (w *world) states() string {
	w.Helper()
	queue, err := w.Store.Queue(id)
	w.must(err)
	var all []string
	for _, q := range queue {
		state := "queued"
		if q.Unconfirmed {
			state = "unconfirmed"
		} else if q.OfferedAt != "" {
			state = "offered"
		}
		all = append(all, q.ID+" "+state)
	}
	return strings.Join(all, ", ")
}

// phases are what the log says of the messages.
func (w *world) phases() string {
	w.Helper()
	events, _, err := w.Store.ReadEvents(id, 0)
	w.must(err)
	var all []string
	for _, ev := range events {
		all = append(all, ev.ID+" "+ev.Phase)
	}
	return strings.Join(all, ", ")
}

func TestThreeMessagesGoOutByStopInOrderEachOnce(t *testing.T) {
	w := newWorld(t)
	w.queued("one", "two", "three")
	var got []string
	for i := range 5 {
		got = append(got, w.stop(i > 0, false))
	}
	if strings.Join(got, ",") != "one,two,three,," || w.states() != "" {
		t.Errorf("handed over %q, left %s", got, w.states())
	}
	want := "msg_1 queued, msg_2 queued, msg_3 queued, msg_1 offered, msg_1 delivered, msg_2 offered, msg_2 delivered, msg_3 offered, msg_3 delivered"
	if got := w.phases(); got != want {
		t.Errorf("logged %s", got)
	}
}

func TestAMessageThatNothingShowsToHaveArrivedIsToldNotSentAgain(t *testing.T) {
	w := newWorld(t)
	w.queued("one", "two")
	w.stop(false, true)
	if got := w.states(); got != "msg_1 offered, msg_2 queued" {
		t.Errorf("then %s", got)
	}
	if got := w.stop(false, false); got != "two" || w.states() != "msg_1 unconfirmed, msg_2 offered" {
		t.Errorf("handed over %q, then %s", got, w.states())
	}
	if got := w.stop(true, false); got != "" || w.states() != "msg_1 unconfirmed" {
		t.Errorf("handed over %q, then %s", got, w.states())
	}
	// It was only late.
	w.hears(stopFeedback + introduction + "one")
	w.must(w.Settle(Moment{SessionID: id, Transcript: w.transcript}, false))
	if got := w.states(); got != "" {
		t.Errorf("at last %s", got)
	}
}

func TestWhatStoodInTheTranscriptBeforeProvesNothing(t *testing.T) {
	w := newWorld(t)
	w.hears(stopFeedback + introduction + "one")
	w.queued("one")
	w.stop(false, true)
	w.stop(false, true)
	if got := w.states(); got != "msg_1 unconfirmed" {
		t.Errorf("got %s", got)
	}
}

func TestOnlyTheUsersOwnWordsProveAnArrival(t *testing.T) {
	text := introduction + "one"
	for line, want := range map[string]bool{
		`{"type":"user","message":{"role":"user","content":"Stop hook feedback:\nMessage from the user:\none"}}`:                                                                                          true,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Message from the user:\none"}]}}`:                                                                                      true,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Message from the user:\r\none\n"}]}}`:                                                  true,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<hook_prompt hook_run_id=\"stop:1:/h\">Message from the user:\none</hook_prompt>"}]}}`: true,
		`{"type":"user","content":"Message from the user:\none"}`:                                                                                                                                         true,
		`{"type":"assistant","message":{"role":"assistant","content":"Message from the user:\none"}}`:                                                                                                     false,
		`{"type":"user","message":{"role":"user","content":"Message from the user:\none more"}}`:                                                                                                          false,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"Message from the user:\none"}]}}`:                                                                            false,
		`{"type":"user","message":{"role":"user","content":"Message from the u`:                                                                                                                           false,
		`{"type":"attachment","attachment":{"blockingError":"Message from the user:\none"}}`:                                                                                                              false,
	} {
		if got := searched(strings.NewReader("{}\n\n"+line+"\n"), text); got != want {
			t.Errorf("%s: got %t", line, got)
		}
	}
	if searched(strings.NewReader(strings.Repeat("x", lineLimit+10)+"\n"), text) {
		t.Error("an endless line")
	}
}

func TestEightStopsInARowThenTheRestWaits(t *testing.T) {
	w := newWorld(t)
	for i := range 10 {
		w.queued(fmt.Sprint("m", i))
	}
	for i := range 9 {
		if got, want := w.stop(i > 0, false), fmt.Sprint("m", i); i < 8 && got != want || i == 8 && got != "" {
			t.Errorf("stop %d: %q", i, got)
		}
	}
	if got := w.stop(false, false); got != "m8" {
		t.Errorf("after a prompt: %q", got)
	}
}

func TestASessionWithoutMessagesCostsNothing(t *testing.T) {
	w := newWorld(t)
	if text := w.stop(false, false); text != "" {
		t.Error(text)
	}
	w.must(w.Settle(Moment{SessionID: id}, true))
	if _, err := os.Lstat(w.Store.Home()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the run store: %v", err)
	}
}

// prompt plays a CLI's prompt on a screen of its own, as Claude Code draws it.
type prompt struct {
	w *world
	// line is what stands at the prompt; asks and busy are what else is there.
	line       string
	asks, busy bool
	// blinks shows an empty prompt for that many looks, as one that is drawn anew.
	blinks int
	// deaf loses what is sent, loses that many Enters, stuck takes none.
	deaf  bool
	loses int
	// breaks takes that many Enters for line breaks.
	breaks int
	stuck  bool
	// then is what happens when a line is taken.
	then    func(p *prompt)
	pressed []string
}

func (p *prompt) picture() ([]byte, int, int, error) {
	const rule = "────────\r\n"
	if p.blinks > 0 {
		p.blinks--
		return []byte(rule + "❯ \x1b7\r\n" + rule + "\x1b8"), 80, 24, nil
	}
	body := rule + "❯ " + strings.ReplaceAll(p.line, "\n", "\r\n  ") + "\x1b7\r\n" + rule
	if p.asks {
		body = "Do you want to proceed?\r\n ❯ 1. Yes\x1b7\r\n   2. No\r\n"
	}
	if p.busy {
		body += "esc to interrupt"
	}
	return []byte(body + "\x1b8"), 80, 24, nil
}

func (p *prompt) typeIn(keys []byte) error {
	p.pressed = append(p.pressed, string(keys))
	text, isPaste := strings.CutPrefix(string(keys), pasteBegin)
	switch {
	case isPaste:
		p.line += strings.TrimSuffix(text, pasteEnd)
	case p.loses > 0:
		p.loses--
	case p.breaks > 0:
		p.breaks--
		p.line += "\n"
	case !p.stuck:
		line := p.line
		p.line = ""
		if !p.deaf {
			p.w.hears(line)
		}
		if p.then != nil {
			p.then(p)
		}
	}
	return nil
}

func (w *world) typing(p *prompt) Typing {
	p.w = w
	const ms = time.Millisecond
	return Typing{
		pace:      pace{paste: 300 * ms, enter: 300 * ms, seen: 100 * ms, look: 2 * ms, again: 30 * ms, rest: ms, drawn: 20 * ms, still: 40 * ms},
		SessionID: id, Transcript: func() string { return w.transcript }, Prompt: runtimes.For("claude").Prompt, Terminal: Terminal{Picture: p.picture, Type: p.typeIn},
	}
}

func (w *world) typeOne(p *prompt, now bool) (Fate, error) {
	t := w.typing(p)
	t.Now = now
	_, fate, err := w.Type(context.Background(), t)
	return fate, err
}

func TestAMessageIsTypedAtAnEmptyPromptAlone(t *testing.T) {
	for _, tc := range []struct {
		name   string
		prompt prompt
		now    bool
		typed  bool
		states string
	}{
		{name: "idle", typed: true},
		{name: "an Enter is lost", prompt: prompt{loses: 1}, typed: true},
		{name: "working", prompt: prompt{busy: true}, states: "msg_1 queued"},
		{name: "working, now", prompt: prompt{busy: true}, now: true, typed: true},
		{name: "a draft", prompt: prompt{line: "half a draft"}, now: true, states: "msg_1 queued"},
		{name: "a draft that is drawn anew", prompt: prompt{line: "half a draft", blinks: 1}, states: "msg_1 queued"},
		{name: "a question", prompt: prompt{asks: true}, now: true, states: "msg_1 queued"},
		{name: "an Enter is a line break", prompt: prompt{breaks: 1}, typed: true},
		{name: "nothing is heard", prompt: prompt{deaf: true}, typed: true, states: "msg_1 offered"},
	} {
		w := newWorld(t)
		w.queued("first line\nsecond \x1b[201~line")
		fate, err := w.typeOne(&tc.prompt, tc.now)
		if (err == nil) != tc.typed || tc.typed && (fate == Delivered) != (tc.states == "") || !tc.typed && (fate != Nothing || !errors.Is(err, ErrNotNow)) {
			t.Errorf("%s: %d, %v", tc.name, fate, err)
		}
		if got := w.states(); got != tc.states {
			t.Errorf("%s: %s", tc.name, got)
		}
		if tc.typed && tc.prompt.pressed[0] != pasteBegin+"first line\nsecond [201~line"+pasteEnd || !tc.typed && len(tc.prompt.pressed) > 0 {
			t.Errorf("%s: pressed %q", tc.name, tc.prompt.pressed)
		}
	}
}

func TestATextThatIsDrawnAnewIsNotTakenForSent(t *testing.T) {
	w := newWorld(t)
	w.queued("one")
	p := &prompt{}
	typing := w.typing(p)
	typing.Terminal.Type = func(keys []byte) error {
		if string(keys) == enter && len(p.pressed) == 1 {
			p.pressed, p.blinks = append(p.pressed, "lost"), 2
			return nil
		}
		return p.typeIn(keys)
	}
	if _, fate, err := w.Type(context.Background(), typing); fate != Delivered || err != nil || len(p.pressed) != 3 {
		t.Errorf("%d, %v, pressed %q", fate, err, p.pressed)
	}
}

func TestEnterNeverAnswersAQuestion(t *testing.T) {
	w := newWorld(t)
	w.queued("Yes")
	p := &prompt{then: func(p *prompt) { p.asks = true }}
	if fate, err := w.typeOne(p, false); fate != Delivered || err != nil {
		t.Errorf("%d, %v", fate, err)
	}
	if len(p.pressed) != 2 {
		t.Errorf("pressed %q", p.pressed)
	}
}

func TestATextThatIsNotTakenIsOnlySentLater(t *testing.T) {
	w := newWorld(t)
	w.queued("one", "two")
	p := &prompt{stuck: true}
	if _, _, err := w.Type(context.Background(), w.typing(p)); err == nil || errors.Is(err, ErrNotNow) {
		t.Errorf("got %v", err)
	}
	if fate, err := w.typeOne(&prompt{}, false); fate != Nothing || err != nil || w.states() != "msg_1 offered, msg_2 queued" {
		t.Errorf("while it is on its way: %d, %v, %s", fate, err, w.states())
	}
	p.stuck, p.pressed = false, nil
	if fate, err := w.typeOne(p, false); fate != Delivered || err != nil || w.states() != "msg_2 queued" || len(p.pressed) != 1 {
		t.Errorf("where it stands: %d, %v, %s, pressed %q", fate, err, w.states(), p.pressed)
	}
}

func TestOneThatIsUnconfirmedIsNotTypedAgain(t *testing.T) {
	w := newWorld(t)
	w.queued("one", "two")
	if fate, err := w.typeOne(&prompt{deaf: true}, false); fate != Typed || err != nil {
		t.Errorf("%d, %v", fate, err)
	}
	w.must(w.Settle(Moment{SessionID: id, Transcript: w.transcript}, true))
	if fate, err := w.typeOne(&prompt{}, false); fate != Delivered || err != nil || w.states() != "msg_1 unconfirmed" {
		t.Errorf("the next: %d, %v, %s", fate, err, w.states())
	}
}

func TestWithoutAnyonesWordAMovingScreenIsBusy(t *testing.T) {
	for _, moves := range []bool{false, true} {
		w := newWorld(t)
		w.queued("one")
		p := &prompt{}
		typing := w.typing(p)
		looks := 0
		typing.Unsure, typing.Transcript = true, func() string { return "" }
		typing.Terminal.Picture = func() ([]byte, int, int, error) {
			picture, columns, rows, err := p.picture()
			if looks++; moves {
				picture = append(fmt.Appendf(nil, "working %d\r\n", looks), picture...)
			}
			return picture, columns, rows, err
		}
		_, fate, err := w.Type(context.Background(), typing)
		if (fate == Taken) == moves || errors.Is(err, ErrNotNow) != moves || (w.states() == "") == moves {
			t.Errorf("moves %t: %d, %v, %s", moves, fate, err, w.states())
		}
	}
}

// killVar makes the test binary hand a message over and kill itself at one of the
// steps that touch the disk.
const killVar = "DELIVER_TEST_KILL"

// Whenever a hook is killed, a message is handed over once at most, and one that
// may have been is told of.
func TestAHookThatIsKilledSendsNothingTwice(t *testing.T) {
	if spec := os.Getenv(killVar); spec != "" {
		stopUntilKilled(t, spec)
		return
	}
	for n := 1; ; n++ {
		w := newWorld(t)
		w.queued("one", "two")
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", killVar, n, w.Store.Home(), w.transcript))
		out, err := cmd.CombinedOutput()
		if err != nil && !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v\n%s", err, out)
		}
		told := strings.Contains(string(out), "says one")
		if told {
			w.hears(stopFeedback + introduction + "one")
		}
		var again []string
		for range 3 {
			again = append(again, w.stop(false, false))
		}
		heard := strings.Count(strings.Join(again, ","), "one")
		if told {
			heard++
		}
		unconfirmed := strings.Contains(w.states(), "msg_1 unconfirmed")
		if heard > 1 || heard == 0 && !unconfirmed || heard == 1 && unconfirmed || strings.Count(strings.Join(again, ","), "two") != 1 {
			t.Errorf("killed at step %d: the hook said one: %t; later ones said %q; left %s", n, told, again, w.states())
		}
		if err == nil {
			if n < 6 {
				t.Errorf("only %d steps", n)
			}
			return
		}
	}
}

func stopUntilKilled(t *testing.T, spec string) {
	var n int
	var home, transcript string
	if _, err := fmt.Sscan(spec, &n, &home, &transcript); err != nil {
		t.Fatal(err)
	}
	store, err := runstore.NewFileStore(home, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	defer statefile.Inject(func(string, string) error {
		if n--; n == 0 {
			return unix.Kill(os.Getpid(), unix.SIGKILL)
		}
		return nil
	})()
	text, err := Desk{Store: store, Now: time.Now}.AtStop(Moment{SessionID: id, Transcript: transcript})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("says", strings.TrimPrefix(text, introduction))
}
