package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentwrap/internal/focus"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/present"
)

// ago is a stamp that lies so long before the tests' clock.
func ago(d time.Duration) *ledger.Stamp { return ledger.At(testNow.Add(-d)) }

func sessions() []*observe.Session {
	lost := &observe.Session{
		Entry: &ledger.Entry{
			LedgerID: "claude-20260806T110001Z-482913", Runtime: "claude", StartedAt: ago(26 * time.Hour), CWD: ledger.Ptr("/home/u/my repo"),
			Project: ledger.Ptr("parser"), Branch: ledger.Ptr("main"), RescueRef: ledger.Ptr("refs/rescued/claude-20260806T110001Z-482913"),
			ClientTTY: ledger.Ptr("/dev/pts/9"),
		},
		Classification: ledger.Classification{State: ledger.Orphaned, Lost: true, LastActiveAt: ago(25 * time.Hour)},
		Title:          "修复解析器里的错误，别动其他文件",
		DirtyCount:     ledger.Ptr(3),
	}
	working := &observe.Session{
		Entry: &ledger.Entry{
			LedgerID: "codex-20260807T115000Z-000017", Runtime: "codex", StartedAt: ago(10 * time.Minute), CWD: ledger.Ptr("/home/u/web"),
			TTY: ledger.Ptr("/dev/pts/1"),
		},
		Classification: ledger.Classification{State: ledger.AliveWorking, Turn: ledger.Ptr(ledger.TurnIts), LastActiveAt: ago(time.Second)},
		Title:          "add a dark mode \x1b]0;owned\a",
		Memory:         ledger.Ptr(int64(512 << 20)),
		SharedWith:     []string{"gemini-20260801T115000Z-100017"},
	}
	stale := &observe.Session{
		Entry:          &ledger.Entry{LedgerID: "gemini-20260801T115000Z-100017", Runtime: "gemini", StartedAt: ago(6 * 24 * time.Hour), CWD: ledger.Ptr("/home/u/web")},
		Classification: ledger.Classification{State: ledger.DetachedAlive, Turn: ledger.Ptr(ledger.TurnYours), LastActiveAt: ago(5 * 24 * time.Hour)},
	}
	return []*observe.Session{lost, working, stale}
}

func printed(t *testing.T, screen present.Screen, list []*observe.Session) string {
	t.Helper()
	a := &app{now: func() time.Time { return testNow }}
	var b strings.Builder
	if err := newListing(&observe.View{Sessions: list}, a).print(&b, screen, list); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestListForPeople(t *testing.T) {
	const rescue = "482913: uncommitted work is safe in refs/rescued/claude-20260806T110001Z-482913: " +
		"git -C '/home/u/my repo' cherry-pick -n refs/rescued/claude-20260806T110001Z-482913\n" +
		"agent-sessions attach ID gets a lost session back\n"
	for width, want := range map[int]string{
		130: `
ID      STATE     RUNTIME  TITLE                             WHERE        TURN   AGE  ACTIVE  DIRTY   MEM  TTY
482913  lost      claude   修复解析器里的错误，别动其他文件  parser:main          1d      1d      3        pts/9
000017  working   codex    add a dark mode ␛]0;owned␇        web +1       its    10m      1s         512M  pts/1
100017  detached  gemini                                     web          yours   6d      5d
`,
		80: `
ID      STATE     RUNTIME  TITLE                  WHERE        TURN   AGE  DIRTY
482913  lost      claude   修复解析器里的错误，…  parser:main          1d      3
000017  working   codex    add a dark mode ␛]0;…  web +1       its    10m
100017  detached  gemini                          web          yours   6d
`,
		60: `
ID      STATE     TITLE                     WHERE        AGE
482913  lost      修复解析器里的错误，别…   parser:main   1d
000017  working   add a dark mode ␛]0;own…  web +1       10m
100017  detached                            web           6d
`,
	} {
		got := printed(t, present.Screen{Terminal: true, Width: width}, sessions())
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n")+rescue, got); diff != "" {
			t.Errorf("width %d:\n%s\n%s", width, got, diff)
		}
		for line := range strings.Lines(strings.TrimSuffix(got, rescue)) {
			if w := present.Width(strings.TrimSuffix(line, "\n")); w > width {
				t.Errorf("width %d: a line of %d cells: %s", width, w, line)
			}
		}
	}
}

// Two ids with the same last digits are shown whole: neither is guessed.
func TestListShowsAnIDThatCanBeTyped(t *testing.T) {
	list := sessions()
	list[2].Entry.LedgerID = "gemini-20260801T115000Z-000017"
	got := printed(t, present.Screen{Terminal: true}, list)
	for _, want := range []string{"\n482913 ", "\ncodex-20260807T115000Z-000017 ", "\ngemini-20260801T115000Z-000017 "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestListForPrograms(t *testing.T) {
	want := "claude-20260806T110001Z-482913\tORPHANED\tclaude\t修复解析器里的错误，别动其他文件\tparser\tmain\t/home/u/my repo\t" +
		"2026-08-06T10:00:00Z\t2026-08-06T11:00:00Z\t\t3\t\t\tlost\n"
	got := printed(t, present.Screen{}, sessions())
	if first := strings.SplitAfter(got, "\n")[0]; first != want {
		t.Errorf("got %q, want %q", first, want)
	}
	if n := strings.Count(got, "\n"); n != 3 {
		t.Errorf("%d lines, want 3:\n%s", n, got)
	}
	if got := printed(t, present.Screen{}, nil); got != "" {
		t.Errorf("without a session: %q", got)
	}
}

func TestListTellsBeforeTheCLIDeletes(t *testing.T) {
	list := sessions()[2:]
	list[0].TranscriptExpiresAt = ledger.Ptr(testNow.Add(26 * time.Hour))
	got := printed(t, present.Screen{Terminal: true}, list)
	if want := "\n100017: gemini itself deletes this conversation in 1d 2h\n"; !strings.HasSuffix(got, want) {
		t.Errorf("no %q at the end of\n%s", want, got)
	}
}

func TestListFilters(t *testing.T) {
	for _, c := range []struct {
		o    listOptions
		want string
	}{
		{listOptions{}, "482913 000017 100017"},
		{listOptions{states: []string{"lost"}}, "482913"},
		{listOptions{states: []string{"ALIVE-WORKING", "orphaned"}}, "482913 000017"},
		{listOptions{states: []string{"DETACHED-ALIVE"}}, "100017"},
		{listOptions{states: []string{"alive"}, runtimes: []string{"codex", "claude"}}, "000017"},
		{listOptions{projects: []string{"parser"}}, "482913"},
		{listOptions{projects: []string{"/home/u/web/"}}, "000017 100017"},
		{listOptions{projects: []string{"/home/u/we"}}, ""},
		{listOptions{projects: []string{"/home/u"}, states: []string{"working"}}, "000017"},
	} {
		keep, err := c.o.filter()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range sessions() {
			if keep(s) {
				got = append(got, ledger.LastDigits(s.Entry.LedgerID))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: got %q, want %q", c.o, got, c.want)
		}
	}
	if _, err := (listOptions{states: []string{"dead"}}).filter(); exitCode(err) != exitWrongUse {
		t.Errorf("an unknown state: got %v", err)
	}
}

func TestListShowsWhatSessionsSayTheyDo(t *testing.T) {
	list := sessions()
	l := newListing(&observe.View{Sessions: list}, &app{now: func() time.Time { return testNow }})
	l.said = map[string]focus.Record{
		list[0].Entry.LedgerID: {Focus: "the parser", TicketID: "T-12", UpdatedAt: testNow.Add(-time.Hour).Format(time.RFC3339)},
		list[1].Entry.LedgerID: {Focus: "\x1b[2Jcolours", UpdatedAt: testNow.Format(time.RFC3339)},
	}
	var wide, narrow, piped strings.Builder
	for b, screen := range map[*strings.Builder]present.Screen{&wide: {Terminal: true, Width: 160}, &narrow: {Terminal: true, Width: 60}, &piped: {}} {
		if err := l.print(b, screen, list); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"FOCUS\n", "the parser (T-12)\n", "␛[2Jcolours\n"} {
		if !strings.Contains(wide.String(), want) {
			t.Errorf("not shown: %q\n%s", want, wide.String())
		}
	}
	for name, b := range map[string]string{"narrow": narrow.String(), "piped": piped.String()} {
		if strings.Contains(b, "parser (T-12)") {
			t.Errorf("%s:\n%s", name, b)
		}
	}
	if old, fresh := l.focus(list[0].Entry.LedgerID, present.Plain), l.focus(list[1].Entry.LedgerID, present.Plain); old.Tone != present.Dim || fresh.Tone != present.Plain {
		t.Errorf("tones %v and %v", old.Tone, fresh.Tone)
	}
}
