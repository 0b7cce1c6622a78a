package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"agentwrap/internal/observe"
	"agentwrap/internal/present"
)

// choose lets a person at a terminal choose one of the sessions that live or were
// lost, by its number in a list. Without a terminal an ID must be named.
func (a *app) choose(ctx context.Context, what string, may func(*observe.Session) bool) (string, error) {
	if !a.onTerminal() {
		return "", wrongUse("%s: name a session; 'agent-sessions list' shows them", what)
	}
	view, err := listOptions{}.observe(ctx, a)
	if err != nil {
		return "", err
	}
	sessions := chosen(view, may)
	if len(sessions) == 0 {
		return "", refuse("there is no session to %s; 'agent-sessions list --all' shows the finished ones", what)
	}
	t := present.Table{Columns: []present.Column{{Title: "", Right: true}, {Title: "STATE"}, {Title: "RUNTIME"}, {Title: "TITLE", Min: 20}, {Title: "WHERE", Min: 10}, {Title: "AGE", Right: true}}}
	l := newListing(view, a)
	for i, s := range sessions {
		state, tone := stateWord(s)
		t.Rows = append(t.Rows, []present.Cell{{Text: strconv.Itoa(i + 1), Tone: present.Strong}, {Text: state, Tone: tone}, {Text: s.Entry.Runtime},
			{Text: titleOf(s)}, {Text: where(s)}, {Text: l.since(s.Entry.StartedAt)}})
	}
	if err := t.Write(a.out, a.screen()); err != nil {
		return "", err
	}
	fmt.Fprint(a.out, "Which one? [1] ")
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if answer = strings.TrimSpace(answer); answer == "" && err == nil {
		return sessions[0].Entry.LedgerID, nil
	}
	n, nerr := strconv.Atoi(answer)
	if nerr != nil || n < 1 || n > len(sessions) {
		return "", refuse("%q is none of the numbers 1 to %d: nothing was done", answer, len(sessions))
	}
	return sessions[n-1].Entry.LedgerID, nil
}
