// Package runtimes says what each agent CLI is, one file each: which process is
// one, which of its words are maintenance, what runs without a terminal, where
// its conversation's id stands, how it goes on and how it ends. Everyone who
// treats one CLI otherwise than another asks here. A profile is plain data that
// the linker lays out, so that a launch pays for no other CLI than its own.
package runtimes

import "slices"

// Profile is what is known of one CLI. The zero value of a field means that
// the CLI has nothing of the kind. Lists of flags name each by one of its names;
// one that stands in Flags is recognised by all of them.
type Profile struct {
	// Name is the runtime: the name its symlink in the shim folder has.
	Name string
	// Aliases are other names that the same CLI is installed under.
	Aliases []string

	// Flags are the flags that take a value, may be bundled, have a second name
	// or may be kept for a resume. Any other is taken to stand alone.
	Flags []Flag
	// Services are first words that are maintenance, not sessions.
	Services []string
	// Daemons are first words that run a daemon which several sessions may
	// share: it is never ended with one of them.
	Daemons []string
	// ServiceFlags are flags that open no session, each to the letter or, ending
	// in *, as a prefix.
	ServiceFlags []string
	// ServiceFolders are folders, ending in /, whose programs are daemons.
	ServiceFolders []string
	// HeadlessFlags ask for a run without a screen.
	HeadlessFlags []string
	// HeadlessWords are first words that do, HeadlessPrompt that any first word
	// does: but not together with one of ScreenFlags.
	HeadlessWords  []string
	HeadlessPrompt bool
	ScreenFlags    []string

	// IDFlags and IDWords come before the id of the conversation that is gone on
	// with: a flag, or words after the name. NewIDFlags come before the id that a
	// new conversation shall have. With one of ForkFlags the conversation goes
	// on under an id of its own.
	IDFlags, NewIDFlags, ForkFlags []string
	IDWords                        []string
	// IDForm is the form of the CLI's ids: "" for a UUID, else what an id begins
	// with, then *, for any run of letters, digits, - and _.
	IDForm string
	// ResumeArgs go on with a conversation: {id} stands for its id and {flags}
	// for the flags that are kept, which else come last.
	ResumeArgs []string
	// PromptArgs begin a conversation with {prompt}, in the CLI's own screen.
	PromptArgs []string
	// ResumeInPlace tells that the CLI finds a conversation only from the folder
	// that it was held in.
	ResumeInPlace bool

	// ConfigHome is the CLI's own folder, below HOME; ConfigHomeVar is the
	// variable that moves it or, with ConfigVarIsHome, the HOME it is below.
	ConfigHome      string
	ConfigHomeVar   string
	ConfigVarIsHome bool
	// Transcripts is where a conversation's file is, below that folder: a pattern
	// of path.Match with {id}, {id8} for the id's first 8 characters and {day} for
	// the folders YYYY/MM/DD of its day. "" where it has no file of its own.
	Transcripts string
	// TranscriptsLike is the runtime whose transcripts have the same shape, ""
	// for a shape of its own.
	TranscriptsLike string
	// IDDescriptor is a file below that folder, named with {id}, that the
	// session's own process holds open; IDFile is one that bears the {id} in its
	// path and the {pid} in its name for as long as that process runs.
	IDDescriptor, IDFile string
	// GiveID is how a run is given the id of its conversation.
	GiveID GiveID
	// Prompt is how its empty prompt looks.
	Prompt Prompt
	// Quit is the command that ends it at its prompt.
	Quit string
	// StopHook tells that its hook at a turn's end can have it go on with a
	// message.
	StopHook bool
	// PluginVar is the variable that holds a configuration for one launch: a JSON
	// object whose list plugin names plugins. PluginReady tells that a launch in a
	// folder, with these arguments, does not wait for anything because of one.
	PluginVar   string
	PluginReady func(getenv func(string) string, cwd string, args []string) bool
	// DeafWrapper tells that its own process, a wrapper, passes no signal on to the
	// program behind it: whoever ends it politely signals the whole tree.
	DeafWrapper bool
	// Background is a variable=value that the environment of those sessions holds
	// which the CLI runs with no one before them.
	Background string
	// EndHook tells that the CLI itself reports how a session ended, so that
	// a process that is gone without a report was lost.
	EndHook bool
}

// Prompt is how a CLI's empty prompt looks on its screen. Without a Mark nothing
// is ever typed into it.
type Prompt struct {
	// Mark begins the prompt's row, where the cursor is: one of the words in it.
	Mark string
	// Hint is what stands behind it while it is empty, "" for nothing, as far as
	// it is not printed faintly.
	Hint string
	// Busy stands somewhere on the screen while the CLI works.
	Busy string
}

// commonServices are the contract's words, for a CLI that has no list of its own.
var commonServices = []string{"daemon", "mcp", "install", "update", "doctor", "config", "migrate-installer", "setup-token", "login", "logout", "completion"}

// profiles are the CLIs that are known, one file each.
var profiles = []*Profile{&claude, &codex, &gemini, &opencode, &cursorAgent, &copilot, &qwen, &kilo, &amp, &auggie, &continueDev}

// For is the profile of a runtime, under the name that was asked for: its own,
// or the generic one.
func For(name string) Profile {
	p := Profile{Services: commonServices}
	if known := find(name); known != nil {
		p = *known
	}
	p.Name = name
	return p
}

func find(name string) *Profile {
	for _, p := range profiles {
		if p.Name == name || slices.Contains(p.Aliases, name) {
			return p
		}
	}
	return nil
}

// IsKnown tells whether a runtime has a profile of its own.
func IsKnown(name string) bool { return find(name) != nil }

// Names are the runtimes that have a profile of their own.
func Names() []string {
	var names []string
	for _, p := range profiles {
		names = append(names, p.Name)
	}
	return names
}

// IsAgent tells whether a name is one that agents' processes have, covered or
// not: that of a CLI with a profile of its own, or one that the public contract
// of the scratch folders names besides (docs/scratch.md).
func IsAgent(name string) bool {
	return IsKnown(name) || slices.Contains([]string{"coder", "microcoder", "devin", "grok", "aider", "goose"}, name)
}
