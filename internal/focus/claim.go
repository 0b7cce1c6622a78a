package focus

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentwrap/internal/process"
	"agentwrap/internal/statefile"
)

// GivenUpAfter is how long a claim that no process is bound to holds without
// being renewed.
const GivenUpAfter = 30 * time.Minute

// Claim says that a session holds a ticket (docs/runstore.md, "Claims"). Times
// are RFC 3339.
type Claim struct {
	TicketID  string `json:"ticket_id"`
	SessionID string `json:"session_id"`
	Host      string `json:"host,omitempty"`
	// Process is the session's agent; a claim taken from a plain shell has none,
	// and nobody's liveness keeps it.
	Process   *Process `json:"process,omitempty"`
	ClaimedAt string   `json:"claimed_at"`
	RenewedAt string   `json:"renewed_at"`
}

// Process is an agent's process, for good: its name is the runtime it ran.
type Process struct {
	Name       string `json:"name"`
	BootID     string `json:"boot_id"`
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"`
}

// Presence tells whether a claim's process runs.
type Presence int

const (
	// Unbound: no process is bound to it.
	Unbound Presence = iota
	Runs
	Gone
	// Unknown: it cannot be told from here.
	Unknown
)

// Verdict is what a new claim on a ticket comes to.
type Verdict int

const (
	// Taken: nobody held it.
	Taken Verdict = iota
	// Renewed: the session held it already.
	Renewed
	// TakenOver: its holder is gone, has given it up, or is stolen from.
	TakenOver
	// Refused: another session holds it.
	Refused
)

// Decide is the whole rule: what a session's claim comes to against the one that
// there is (nil for none), and why in words.
func Decide(held *Claim, session string, holder Presence, now time.Time) (Verdict, string) {
	switch {
	case held == nil:
		return Taken, "nobody held it"
	case held.SessionID == session:
		return Renewed, "it is this session's own"
	case holder == Gone:
		return TakenOver, fmt.Sprintf("session %s held it, whose process %d is gone", held.SessionID, held.Process.PID)
	case holder == Runs:
		return Refused, fmt.Sprintf("session %s holds it, whose process %d (%s) runs", held.SessionID, held.Process.PID, held.Process.Name)
	case holder == Unknown:
		return Refused, fmt.Sprintf("session %s holds it, and whether its process runs cannot be told from here", held.SessionID)
	}
	renewed, err := time.Parse(time.RFC3339, held.RenewedAt)
	switch {
	case err != nil:
		return Refused, fmt.Sprintf("session %s holds it, since a time that cannot be read", held.SessionID)
	case now.Sub(renewed) >= GivenUpAfter:
		return TakenOver, fmt.Sprintf("session %s held it and has not renewed it since %s", held.SessionID, held.RenewedAt)
	}
	return Refused, fmt.Sprintf("session %s holds it, renewed at %s", held.SessionID, held.RenewedAt)
}

// Presence looks whether a claim's process runs. runtimeOf names the runtime of
// a process, "" for none, ok false where that cannot be told: one that has
// become another program holds nothing any more.
func (c Claim) Presence(host string, runtimeOf func(pid int) (name string, ok bool)) Presence {
	p := c.Process
	if p == nil {
		return Unbound
	}
	if c.Host != host {
		return Unknown
	}
	alive, err := process.Identity{BootID: p.BootID, PID: p.PID, StartTicks: p.StartTicks}.Alive()
	if err != nil {
		return Unknown
	}
	if !alive {
		return Gone
	}
	if name, ok := runtimeOf(p.PID); ok && name != p.Name {
		return Gone
	}
	return Runs
}

// Claimant is who claims: Host and Process as they shall stand in the claim.
type Claimant struct {
	Session string
	Host    string
	Process *Process
	// RuntimeOf is what Claim.Presence asks.
	RuntimeOf func(pid int) (name string, ok bool)
	Now       time.Time
}

// Claim claims a ticket: of many at once one wins. Where steal is set nobody
// refuses. before is the claim that was there, nil for none.
func (s Store) Claim(ticket string, by Claimant, steal bool) (v Verdict, why string, before *Claim, err error) {
	if err := validTicket(ticket); err != nil {
		return Refused, "", nil, err
	}
	err = s.lockedClaims(func() error {
		if before, err = s.ReadClaim(ticket); err != nil && !steal {
			return err
		}
		if v, why = s.decide(before, by); v == Refused && steal {
			v, why = TakenOver, why+"; stolen"
		}
		if v == Refused {
			return nil
		}
		stamp := by.Now.UTC().Format(time.RFC3339)
		c := Claim{TicketID: ticket, SessionID: by.Session, Host: by.Host, Process: by.Process, ClaimedAt: stamp, RenewedAt: stamp}
		if v == Renewed {
			c.ClaimedAt = before.ClaimedAt
		}
		return write(s.claimPath(ticket), c)
	})
	return v, why, before, err
}

func (s Store) decide(held *Claim, by Claimant) (Verdict, string) {
	holder := Unbound
	if held != nil {
		holder = held.Presence(by.Host, by.RuntimeOf)
	}
	return Decide(held, by.Session, holder, by.Now)
}

// Release gives a ticket up. Another session's is refused while that holds it;
// one that nobody holds is no error, and released is false.
func (s Store) Release(ticket string, by Claimant) (released bool, v Verdict, why string, err error) {
	if err := validTicket(ticket); err != nil {
		return false, Refused, "", err
	}
	err = s.lockedClaims(func() error {
		held, err := s.ReadClaim(ticket)
		if err != nil {
			return err
		}
		if v, why = s.decide(held, by); v == Taken || v == Refused {
			return nil
		}
		released = true
		return statefile.Remove(s.claimPath(ticket))
	})
	return released, v, why, err
}

// Claims are all claims, by ticket. What cannot be read is passed over and comes
// back as unreadable.
func (s Store) Claims() (claims []Claim, unreadable []error, err error) {
	list, err := os.ReadDir(s.claimsDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list claims: %w", err)
	}
	for _, d := range list {
		if !strings.HasSuffix(d.Name(), ".json") || strings.HasPrefix(d.Name(), ".") {
			continue
		}
		c, err := readClaim(filepath.Join(s.claimsDir(), d.Name()))
		switch {
		case err != nil:
			unreadable = append(unreadable, err)
		case c != nil:
			claims = append(claims, *c)
		}
	}
	slices.SortFunc(claims, func(a, b Claim) int { return cmp.Compare(a.TicketID, b.TicketID) })
	return claims, unreadable, nil
}

// ReadClaim is the claim on a ticket, nil for none.
func (s Store) ReadClaim(ticket string) (*Claim, error) { return readClaim(s.claimPath(ticket)) }

func readClaim(path string) (*Claim, error) {
	raw, err := statefile.Read(path, recordLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	c := new(Claim)
	if err == nil {
		err = json.Unmarshal(raw, c)
	}
	if err == nil && (c.TicketID == "" || c.SessionID == "") {
		err = errors.New("it names no ticket or no session")
	}
	if err != nil {
		return nil, fmt.Errorf("read claim %s: %w: remove it, or claim the ticket with --steal", path, err)
	}
	return c, nil
}

// ticketLimit bounds a ticket's name, in bytes.
const ticketLimit = 200

func validTicket(ticket string) error {
	if ticket == "" || len(ticket) > ticketLimit || strings.ContainsFunc(ticket, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%.40q cannot be a ticket: it has 1 to %d bytes on one line", ticket, ticketLimit)
	}
	return nil
}

func (s Store) claimsDir() string { return filepath.Join(s.dir, "claims") }

// claimPath is a ticket's file: readable, and its own even where two tickets
// differ in characters that file names do not have.
func (s Store) claimPath(ticket string) string {
	sum := sha256.Sum256([]byte(ticket))
	return filepath.Join(s.claimsDir(), safe(ticket, 60)+"-"+hex.EncodeToString(sum[:4])+".json")
}

func (s Store) lockedClaims(do func() error) error {
	return s.locked(func() error {
		if err := statefile.MakeDir(s.claimsDir()); err != nil {
			return err
		}
		return do()
	})
}
