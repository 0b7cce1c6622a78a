package rescue

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"agentwrap/internal/present"
)

// The fields at the end of a snapshot's message, one a line. What is read back
// from a message is no more trusted than any text from outside.
const (
	fieldSession = "Session"
	fieldTitle   = "Title"
	fieldCWD     = "Folder"
	fieldBranch  = "Branch"
	fieldHost    = "Host"
	fieldTime    = "Saved-At"
	fieldMain    = "Main-Checkout"
	fieldShared  = "Shared"
	fieldSkipped = "Not-Saved"
	fieldRaw     = "Saved-As-Is"
	fieldNested  = "Nested"
	fieldRestore = "Restore"
	sharedLive   = "other live sessions worked in the same tree, so this may hold work of theirs"
	sharedMain   = "the main checkout is open to every session, so this may hold work of others"
)

// describe writes the commit message of a snapshot.
func describe(req Request, r Result, branch string, linked bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rescued: %s\n\n", oneLine(firstOf(req.Title, req.LedgerID), 60))
	if req.Live {
		b.WriteString("What was not committed in the session's working tree when it was asked for.\n\n")
	} else {
		b.WriteString("What was not committed in the session's working tree when its process was gone.\n\n")
	}
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, oneLine(value, 4096))
		}
	}
	field(fieldSession, req.LedgerID)
	field(fieldTitle, req.Title)
	field(fieldCWD, strconv.Quote(req.CWD))
	field(fieldBranch, firstOf(req.Branch, branch))
	field(fieldHost, req.Host)
	field(fieldTime, req.Now.UTC().Format(time.RFC3339))
	if r.Main != "" {
		field(fieldMain, strconv.Quote(r.Main))
	}
	field(fieldShared, sharing(req, linked))
	for _, n := range r.Skipped {
		field(fieldSkipped, strconv.Quote(n.Path)+" "+n.Why)
	}
	for _, n := range r.Raw {
		field(fieldRaw, strconv.Quote(n.Path)+" "+n.Why)
	}
	for _, n := range r.Nested {
		field(fieldNested, strconv.Quote(n.Path)+" "+n.Ref)
	}
	field(fieldRestore, RestoreCommand(req.CWD, req.ref()))
	return b.String()
}

func sharing(req Request, linked bool) string {
	switch {
	case req.Shared:
		return sharedLive
	case !linked:
		return sharedMain
	}
	return ""
}

// RestoreCommand is the command that gives a snapshot's work back in dir.
func RestoreCommand(dir, ref string) string {
	return shellquote.Join("git", "-C", dir, "cherry-pick", "-n", ref)
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// oneLine makes text fit a line of a message, harmless and at most limit
// characters long.
func oneLine(text string, limit int) string {
	line := present.Line(text)
	if runes := []rune(line); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return line
}

// Told is what a snapshot's message tells.
type Told struct {
	Session, Title, CWD, Branch, Host, Main string

	At           time.Time
	Skipped, Raw []Note
	Nested       []Nested
}

// readMessage reads a message that describe wrote.
func readMessage(message string) Told {
	var t Told
	for line := range strings.Lines(message) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case fieldSession:
			t.Session = value
		case fieldTitle:
			t.Title = value
		case fieldCWD:
			t.CWD, _ = unquote(value)
		case fieldBranch:
			t.Branch = value
		case fieldHost:
			t.Host = value
		case fieldTime:
			t.At, _ = time.Parse(time.RFC3339, value)
		case fieldMain:
			t.Main, _ = unquote(value)
		case fieldSkipped:
			path, why := unquote(value)
			t.Skipped = append(t.Skipped, Note{path, why})
		case fieldRaw:
			path, why := unquote(value)
			t.Raw = append(t.Raw, Note{path, why})
		case fieldNested:
			path, ref := unquote(value)
			t.Nested = append(t.Nested, Nested{Path: path, Ref: ref})
		}
	}
	return t
}

// unquote reads a quoted text and what follows it after a space.
func unquote(value string) (quoted, rest string) {
	prefix, err := strconv.QuotedPrefix(value)
	if err != nil {
		return "", value
	}
	quoted, _ = strconv.Unquote(prefix)
	return quoted, strings.TrimPrefix(value[len(prefix):], " ")
}
