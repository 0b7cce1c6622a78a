package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/focus"
	"agentwrap/internal/present"
)

func newClaimCommand(a *app) *cobra.Command {
	var session string
	var steal bool
	cmd := command(&cobra.Command{
		Use:   "claim TICKET",
		Short: "hold a ticket, so that no other session works on it",
		Long: "Claims a ticket in this working tree for the calling session, or renews its claim. The claim holds as long as the\n" +
			"session's agent runs; one from a plain shell holds for 30 minutes after each renewal. What a session held that is\n" +
			"gone is taken over, and that is said; what another holds is refused.",
		Example: "  agent-sessions claim T-12 || exit",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runClaim(a, args[0], session, steal) },
	}, exitRefused)
	cmd.Flags().StringVar(&session, "session", "", "another session than the calling one")
	cmd.Flags().BoolVar(&steal, "steal", false, "take it from whoever holds it")
	return cmd
}

// claimant is the calling session as it claims.
func (a *app) claimant(session string) (focus.Store, focus.Claimant, error) {
	store, who, err := a.focus()
	if err != nil {
		return store, focus.Claimant{}, err
	}
	by := focus.Claimant{Host: hostname(), RuntimeOf: who.RuntimeOf, Now: a.now()}
	by.Session = focus.ID(cmp.Or(session, focus.DefaultID(who, by.Host)))
	if agent, ok := who.Agent(); ok {
		by.Process = &focus.Process{Name: agent.Runtime, BootID: agent.BootID, PID: agent.PID, StartTicks: agent.StartTicks}
	}
	return store, by, nil
}

func runClaim(a *app, ticket, session string, steal bool) error {
	store, by, err := a.claimant(session)
	if err != nil {
		return err
	}
	verdict, why, _, err := store.Claim(ticket, by, steal)
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	switch verdict {
	case focus.Refused:
		return refuse("claim %s: %s; --steal takes it all the same", ticket, why)
	case focus.TakenOver:
		_, err = fmt.Fprintf(a.out, "%s: taken over: %s\n", present.Line(ticket), present.Line(why))
	case focus.Renewed:
		_, err = fmt.Fprintf(a.out, "%s: renewed\n", present.Line(ticket))
	default:
		_, err = fmt.Fprintf(a.out, "%s: claimed\n", present.Line(ticket))
	}
	return err
}

func newReleaseCommand(a *app) *cobra.Command {
	var session string
	cmd := command(&cobra.Command{
		Use:     "release TICKET",
		Short:   "give a ticket up",
		Long:    "Gives up the calling session's claim on a ticket. One that nobody holds is no error; what another holds is refused.",
		Example: "  agent-sessions release T-12",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runRelease(a, args[0], session) },
	}, exitRefused)
	cmd.Flags().StringVar(&session, "session", "", "another session than the calling one")
	return cmd
}

func runRelease(a *app, ticket, session string) error {
	store, by, err := a.claimant(session)
	if err != nil {
		return err
	}
	released, verdict, why, err := store.Release(ticket, by)
	switch {
	case err != nil:
		return fmt.Errorf("release: %w", err)
	case verdict == focus.Refused:
		return refuse("release %s: %s; 'claim --steal' takes it first", ticket, why)
	case released:
		_, err = fmt.Fprintf(a.out, "%s: released\n", present.Line(ticket))
	default:
		_, err = fmt.Fprintf(a.out, "%s: nobody holds it\n", present.Line(ticket))
	}
	return err
}

func newClaimsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := command(&cobra.Command{
		Use:     "claims",
		Short:   "which session holds which ticket",
		Long:    "Lists the claims of this working tree: the ticket, the session that holds it, its process, and when it was renewed.",
		Example: "  agent-sessions claims --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runClaims(a, asJSON) },
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// claimItem is a claim in `claims --json`. held is false for one that the next
// session to claim the ticket takes over.
type claimItem struct {
	focus.Claim
	Held bool   `json:"held"`
	Why  string `json:"why"`
}

func runClaims(a *app, asJSON bool) error {
	store, by, err := a.claimant("")
	if err != nil {
		return err
	}
	claims, unreadable, err := store.Claims()
	if err != nil {
		return err
	}
	for _, err := range unreadable {
		a.warn("%v", err)
	}
	items := []claimItem{}
	t := present.Table{Columns: []present.Column{{Title: "TICKET", Min: 6}, {Title: "SESSION", Min: 10}, {Title: "PROCESS", Drop: 1}, {Title: "RENEWED", Right: true}, {Title: "STATE"}}}
	for _, c := range claims {
		// Nobody's claim: what any other session's would come to.
		verdict, why := focus.Decide(&c, "", c.Presence(by.Host, by.RuntimeOf), by.Now)
		items = append(items, claimItem{c, verdict == focus.Refused, why})
		t.Rows = append(t.Rows, claimRow(c, verdict == focus.Refused, by.Now))
	}
	if asJSON {
		return printJSON(a, items)
	}
	return t.Write(a.out, a.screen())
}

func claimRow(c focus.Claim, held bool, now time.Time) []present.Cell {
	state, tone := "held", present.Plain
	if !held {
		state, tone = "given up", present.Dim
	}
	process, renewed := "", present.Cell{Text: "?", Raw: c.RenewedAt, Tone: tone}
	if c.Process != nil {
		process = fmt.Sprintf("%s %d", c.Process.Name, c.Process.PID)
	}
	if at, err := time.Parse(time.RFC3339, c.RenewedAt); err == nil {
		renewed.Text = present.Ago(at, now)
	}
	return []present.Cell{{Text: c.TicketID, Tone: tone}, {Text: c.SessionID, Tone: tone}, {Text: process, Tone: tone}, renewed, {Text: state, Tone: tone}}
}
