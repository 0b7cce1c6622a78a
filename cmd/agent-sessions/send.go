package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/attend"
	"agentwrap/internal/deliver"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/present"
	"agentwrap/internal/runstore"
	"agentwrap/internal/runtimes"
)

func newSendCommand(a *app) *cobra.Command {
	var now bool
	cmd := command(&cobra.Command{
		Use:   "send ID TEXT|-",
		Short: "tell a session the next thing",
		Long: "Queues a follow-up message for a session. While the session works it gets it at the end of its turn; while it is idle\n" +
			"and hosted it is typed at its prompt at once, unless a question or a half-typed line is there. Else the message\n" +
			"waits. Each goes out once, in order. With - the text comes from standard input.",
		Example:           "  agent-sessions send 482913 'run the tests again'\n  git diff | agent-sessions send 482913 -",
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: completeID(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSend(cmd.Context(), a, args[0], strings.Join(args[1:], " "), now)
		},
	}, exitNoSession, exitRefused)
	cmd.Flags().BoolVar(&now, "now", false, "type it even while the session works")
	return cmd
}

func runSend(ctx context.Context, a *app, short, text string, now bool) error {
	if text == "-" {
		raw, err := a.content(nil, runstore.TextLimit)
		if err != nil {
			return fmt.Errorf("send: %w", err)
		}
		text = string(raw)
	}
	if strings.TrimSpace(text) == "" {
		return wrongUse("send: the message is empty")
	}
	row, desk, err := a.queueOf(short)
	if err != nil {
		return err
	}
	if s, err := a.session(ctx, row.LedgerID, observe.Want{}); err != nil {
		return err
	} else if s.State == ledger.Finished || s.State == ledger.Orphaned {
		return refuse("session %s runs no more: bring it back first: agent-sessions attach %s", row.LedgerID, row.LedgerID)
	}
	m, err := desk.Queue(row.LedgerID, text)
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	fate, err := a.handOver(ctx, desk, m, now)
	fmt.Fprintf(a.out, "%d: %s\n", m.Number(), fate)
	return err
}

// messages are what waits for sessions.
func (a *app) messages() (deliver.Desk, error) {
	runs, err := a.runs()
	return deliver.Desk{Store: runs, Now: a.now}, err
}

// turnEnds is how long a turn's end that is under way may take until the ledger
// says so: its hook may have looked for messages just before this one came.
const turnEnds = 500 * time.Millisecond

// handOver types what waits for a session where that may be done now, and says
// what becomes of a message that was queued.
func (a *app) handOver(ctx context.Context, desk deliver.Desk, m runstore.Message, now bool) (string, error) {
	s, err := a.session(ctx, m.SessionID, observe.Want{})
	if err != nil {
		return "waits", err
	}
	if works(s) && !now {
		select {
		case <-ctx.Done():
		case <-time.After(turnEnds):
		}
		if s, err = a.session(ctx, m.SessionID, observe.Want{}); err != nil || works(s) {
			return "waits for the end of its turn", err
		}
	}
	profile := runtimes.For(s.Entry.Runtime)
	if _, err := holderOf(s); err != nil {
		return waits(profile), nil
	}
	store, err := a.store()
	if err != nil {
		return "waits", err
	}
	t := attend.TypingFor(store, s)
	t.Now = now
	typed, fate, err := desk.Type(ctx, t)
	if errors.Is(err, deliver.ErrNotNow) {
		return waits(profile) + ": " + err.Error(), nil
	}
	if err == nil && fate == deliver.Nothing {
		return onItsWay(desk, profile, m)
	}
	return fateText(profile, typed.ID == m.ID, fate), err
}

// onItsWay says what becomes of a message that somebody else hands over: a hook,
// or a sweep.
func onItsWay(desk deliver.Desk, p runtimes.Profile, m runstore.Message) (string, error) {
	queue, err := desk.Store.Queue(m.SessionID)
	at := slices.IndexFunc(queue, func(q runstore.Queued) bool { return q.ID == m.ID })
	switch {
	case err != nil:
		return "waits", err
	case at < 0:
		return "delivered", nil
	case queue[at].OfferedAt != "":
		return "is on its way", nil
	}
	return waits(p) + ", behind others", nil
}

// works tells a session that will look for messages at the end of its turn.
func works(s *observe.Session) bool {
	return ledger.Value(s.Turn) == ledger.TurnIts && runtimes.For(s.Entry.Runtime).StopHook
}

func fateText(p runtimes.Profile, own bool, fate deliver.Fate) string {
	switch {
	case !own:
		return waits(p) + ", behind others"
	case fate == deliver.Delivered:
		return "delivered"
	case fate == deliver.Taken:
		return "typed, and taken by its prompt"
	case fate == deliver.Typed:
		return "typed; it does not stand in the conversation yet"
	}
	return "typed; whether it was taken is not known"
}

func waits(p runtimes.Profile) string {
	if p.StopHook {
		return "waits for the end of its next turn"
	}
	return "waits until its prompt is empty"
}

func newMessagesCommand(a *app) *cobra.Command {
	var drop string
	var asJSON bool
	cmd := command(&cobra.Command{
		Use:   "messages ID",
		Short: "the messages that wait for a session",
		Long: "Lists the messages that wait for a session, in order: queued, offered (handed over, not yet seen in the\n" +
			"conversation) or unconfirmed (nothing ever showed that it arrived; it is not sent again by itself).",
		Example:           "  agent-sessions messages 482913\n  agent-sessions messages 482913 --drop 3",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeID(a),
		RunE: func(_ *cobra.Command, args []string) error {
			if drop != "" {
				return runDropMessage(a, args[0], drop)
			}
			return runMessages(a, args[0], asJSON)
		},
	}, exitNoSession)
	cmd.Flags().StringVar(&drop, "drop", "", "take the message with this number out of the queue")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func runDropMessage(a *app, short, which string) error {
	row, desk, err := a.queueOf(short)
	if err != nil {
		return err
	}
	m, err := desk.Drop(row.LedgerID, which)
	if err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	_, err = fmt.Fprintf(a.out, "%d: dropped: %s\n", m.Number(), present.Cut(present.Line(m.Text), 60))
	return err
}

// queueOf is the row that a short id means, with what waits for it.
func (a *app) queueOf(short string) (*ledger.Entry, deliver.Desk, error) {
	row, err := a.row(short)
	if err != nil {
		return nil, deliver.Desk{}, err
	}
	desk, err := a.messages()
	return row, desk, err
}

// messageItem is a message in `messages --json`.
type messageItem struct {
	runstore.Message
	State     string `json:"state"`
	OfferedAt string `json:"offered_at,omitempty"`
	OfferedBy string `json:"offered_by,omitempty"`
}

func runMessages(a *app, short string, asJSON bool) error {
	row, desk, err := a.queueOf(short)
	if err != nil {
		return err
	}
	moment := deliver.Moment{SessionID: row.LedgerID, Transcript: ledger.Value(row.TranscriptPath)}
	if err := desk.Settle(moment, row.FinishedAt != nil); err != nil {
		return err
	}
	queue, err := desk.Store.Queue(row.LedgerID)
	if err != nil {
		return err
	}
	items := []messageItem{}
	t := present.Table{Columns: []present.Column{{Title: "N", Right: true}, {Title: "STATE"}, {Title: "AGE", Right: true}, {Title: "TEXT", Min: 20}}}
	for _, q := range queue {
		items = append(items, messageItem{q.Message, messageState(q), q.OfferedAt, q.OfferedBy})
		t.Rows = append(t.Rows, []present.Cell{
			{Text: fmt.Sprint(q.Number())}, {Text: messageState(q), Tone: messageTone(q)}, ageCell(q.CreatedAt, a.now()), {Text: q.Text},
		})
	}
	if asJSON {
		return printJSON(a, items)
	}
	return t.Write(a.out, a.screen())
}

func messageState(q runstore.Queued) string {
	switch {
	case q.Unconfirmed:
		return "unconfirmed"
	case q.OfferedAt != "":
		return "offered"
	}
	return "queued"
}

func messageTone(q runstore.Queued) present.Tone {
	if q.Unconfirmed {
		return present.Notice
	}
	return present.Plain
}
