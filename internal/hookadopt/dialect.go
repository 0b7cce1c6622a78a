package hookadopt

import (
	"agentwrap/internal/ledger"
	"agentwrap/internal/transcript"
)

// dialect is how the hooks of one CLI speak: one file each.
type dialect struct {
	// runtime is the name that sessions of this CLI have in the ledger.
	runtime string
	// names are the names its processes have.
	names []string
	// pidVar and idVar are the variables in which the CLI gives its hooks its
	// own pid and the conversation's id; "" where it gives none.
	pidVar, idVar string
	// meaning is what an event says.
	meaning func(payload) meaning
	// transcript finds the file of the event's conversation, "" for none. own is
	// false where the event names a file that is another agent's.
	transcript func(p payload, at place) (path string, own bool)
	// answer is what is printed for what there is to say to the model at the
	// beginning of a conversation, "" for nothing.
	answer func(event, said string) []byte
	// goOn is what is printed at the end of a turn to have the session go on with
	// a text. nil: this CLI cannot be told so.
	goOn func(text string) []byte
}

// place is where a session's files are looked for.
type place struct {
	configHome string // the CLI's own folder
	pattern    string // of its transcripts below that (runtimes.Profile)
	cwd        string // the process's working directory
}

// find is a conversation's transcript by its id, "" for none; a folder that
// cannot be read has none to show.
func (at place) find(id string) string {
	path, _ := transcript.Find(at.configHome, at.pattern, id)
	return path
}

// meaning is what an event says of its session, beside that it is alive.
type meaning struct {
	// foreign tells that the event is not of the session's own conversation.
	foreign bool
	begins  bool
	turn    string
	// stops tells the end of a turn, at which the CLI may be told to go on.
	stops bool
	end   *ledger.End
}

var dialects = map[string]*dialect{"claude": &claude, "codex": &codex, "gemini": &gemini, "cursor": &cursor, "opencode": &opencode}
