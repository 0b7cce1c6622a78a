package enrol

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"agentwrap/internal/ledger"
)

// launchedBy is who started a session, as far as it is proved.
type launchedBy struct {
	by             string // a value of launchedBy, "" for not proved
	parent         string // the launching agent, where by is agent
	parentLedgerID string // its session, where it is enrolled
}

func fillLauncher(e *ledger.Entry, l launchedBy) {
	e.LaunchedBy, e.Parent, e.ParentLedgerID = ledger.Known(l.by), ledger.Known(l.parent), ledger.Known(l.parentLedgerID)
}

// launcher decides who started a session (docs/ledger.md, "launchedBy"). The
// environment's own word comes first; an inherited AGENT_LEDGER_ID proves an
// agent, since the host stands between a hosted session's children and it.
// Else the nearest ancestor that names someone decides. A person is named only
// when the environment could be read: a factory may stand behind any terminal.
func launcher(s Subject) launchedBy {
	if s.Env.Get("FACTORY_ADW") == "1" {
		return launchedBy{by: ledger.LaunchedByFactory}
	}
	if id := s.Env.Get("AGENT_LEDGER_ID"); ledger.ValidID(id) {
		return launchedBy{by: ledger.LaunchedByAgent, parent: id, parentLedgerID: id}
	}
	for a := range s.Ancestors {
		switch {
		case a.Runtime != "":
			return byAgent(a)
		case s.Env.Readable && isPersonsTerminal(a.Comm):
			return launchedBy{by: ledger.LaunchedByUser}
		}
	}
	if s.Env.Readable && isInteractiveScope(s.Cgroup()) {
		return launchedBy{by: ledger.LaunchedByUser}
	}
	return launchedBy{}
}

func byAgent(a Ancestor) launchedBy {
	if a.LedgerID != "" {
		return launchedBy{by: ledger.LaunchedByAgent, parent: a.LedgerID, parentLedgerID: a.LedgerID}
	}
	return launchedBy{by: ledger.LaunchedByAgent, parent: fmt.Sprintf("%s (pid %d)", a.Runtime, a.PID)}
}

// terminals are programs under which a person types, by the name the kernel
// has (15 bytes at most).
var terminals = []string{"sshd", "sshd-session", "login", "mosh-server", "tmux: server", "screen", "SCREEN", "zellij", "dtach", "abduco", "shpool",
	"gnome-terminal-", "gnome-terminal", "ptyxis", "ptyxis-agent", "kgx", "konsole", "yakuake", "xterm", "urxvt", "urxvtd", "rxvt", "st", "kitty", "alacritty", "foot",
	"footclient", "wezterm-gui", "wezterm-mux-ser", "ghostty", "terminator", "tilix", "guake", "xfce4-terminal", "lxterminal", "mate-terminal", "qterminal", "terminology",
	"rio", "warp", "contour", "ttyd", "cockpit-bridge"}

func isPersonsTerminal(comm string) bool { return slices.Contains(terminals, comm) }

// isInteractiveScope tells a cgroup that a login or a terminal opened.
func isInteractiveScope(cgroup string) bool {
	unit := path.Base(cgroup)
	if !strings.HasSuffix(unit, ".scope") {
		return false
	}
	return slices.ContainsFunc([]string{"session-", "vte-spawn-", "tmux-spawn-", "kitty-", "konsole-"}, func(prefix string) bool {
		return strings.HasPrefix(unit, prefix)
	})
}
