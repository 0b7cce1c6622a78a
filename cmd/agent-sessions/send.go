package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"agentwrap/internal/deliver"
	"agentwrap/internal/host"
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
	s, err := a.session(ctx, short, observe.Want{})
	if err != nil {
		return err
	}
	id := s.Entry.LedgerID
	if s.State == ledger.Finished || s.State == ledger.Orphaned {
		return refuse("session %s runs no more: bring it back first: agent-sessions attach %s", id, id)
	}
	desk, err := a.messages()
	if err != nil {
		return err
	}
	m, err := desk.Queue(id, text)
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	fate, err := a.handOver(ctx, desk, s, m, now)
	fmt.Fprintf(a.out, "%d: %s\n", m.Number(), fate)
	return err
}

// messages are what waits for sessions.
func (a *app) messages() (deliver.Desk, error) {
	runs, err := a.runs()
	return deliver.Desk{Store: runs, Now: a.now}, err
}

// handOver types what waits for a session where that may be done now, and says
// what becomes of a message.
func (a *app) handOver(ctx context.Context, desk deliver.Desk, s *observe.Session, m runstore.Message, now bool) (string, error) {
	profile := runtimes.For(s.Entry.Runtime)
	if ledger.Value(s.Turn) == ledger.TurnIts && profile.StopHook && !now {
		return "waits for the end of its turn", nil
	}
	socket, err := holderOf(s)
	if err != nil {
		return waits(profile), nil
	}
	t, err := a.typing(s, socket)
	if err != nil {
		return "waits", err
	}
	t.Now = now
	typed, arrived, _, err := desk.Type(ctx, t)
	switch {
	case errors.Is(err, deliver.ErrNotNow):
		return waits(profile) + ": " + err.Error(), nil
	case err != nil:
		return "was typed; whether it arrived is not known", err
	case typed.ID != m.ID:
		return "waits behind others", nil
	case !arrived:
		return "was typed; it does not stand in the conversation yet", nil
	}
	return "delivered", nil
}

func waits(p runtimes.Profile) string {
	if p.StopHook {
		return "waits for the end of its next turn"
	}
	return "waits until its prompt is empty"
}

// typing is how a message is typed into a hosted session.
func (a *app) typing(s *observe.Session, socket string) (deliver.Typing, error) {
	store, err := a.store()
	return deliver.Typing{
		SessionID: s.Entry.LedgerID, Prompt: runtimes.For(s.Entry.Runtime).Prompt, Unsure: s.Turn == nil,
		Transcript: func() string {
			row, err := store.Read(s.Entry.LedgerID)
			if err != nil {
				row = s.Entry
			}
			return ledger.Value(row.TranscriptPath)
		},
		Terminal: deliver.Terminal{
			Picture: func() ([]byte, int, int, error) { return peekHeld(s) },
			Type:    func(keys []byte) error { return host.Type(socket, keys) },
		},
	}, err
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
