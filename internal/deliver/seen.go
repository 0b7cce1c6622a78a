package deliver

import (
	"bufio"
	"errors"
	"html"
	"io"
	"os"
	"strings"

	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"agentwrap/internal/runstore"
)

// searchLimit bounds how much of a transcript is searched behind the place where
// a message was handed over, in bytes; lineLimit a line of it.
const (
	searchLimit = 32 << 20
	lineLimit   = 8 << 20
)

// stopFeedback stands in Claude Code's transcript before what a Stop hook says;
// Codex puts it between hookPrompt, up to its '>', and hookPromptEnd.
const (
	stopFeedback  = "Stop hook feedback:\n"
	hookPrompt    = "<hook_prompt"
	hookPromptEnd = "</hook_prompt>"
)

// seen tells whether a message that was handed over stands in the session's
// transcript since. It looks at lines of the user's alone, for the whole text.
func seen(q runstore.Queued, transcript string) bool {
	if transcript == "" {
		return false
	}
	f, err := os.OpenFile(transcript, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	if transcript == q.Transcript {
		if _, err := f.Seek(q.Size, io.SeekStart); err != nil {
			return false
		}
	}
	return searched(f, wire(q))
}

func searched(f io.Reader, text string) bool {
	r := bufio.NewReaderSize(io.LimitReader(f, searchLimit), 256<<10)
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) <= lineLimit {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if said(line, text) {
			return true
		}
		if line = line[:0]; err != nil {
			return false
		}
	}
}

// said tells whether a line of a transcript is the user's and holds the text.
func said(line []byte, text string) bool {
	if !gjson.ValidBytes(line) {
		return false
	}
	v := gjson.ParseBytes(line)
	if v.Get("type").Str != "user" && v.Get("message.role").Str != "user" && v.Get("payload.role").Str != "user" {
		return false
	}
	for _, path := range []string{"message.content", "payload.content", "content", "message.parts"} {
		if holds(v.Get(path), text) {
			return true
		}
	}
	return false
}

// holds tells whether a content, a text or a list of parts with texts, is the
// text.
func holds(content gjson.Result, text string) bool {
	if content.Type == gjson.String {
		return same(content.Str, text)
	}
	found := false
	content.ForEach(func(_, part gjson.Result) bool {
		found = same(part.Get("text").Str, text)
		return !found
	})
	return found
}

// same compares texts as CLIs keep them: without blanks around them, and with
// one kind of line end.
func same(kept, text string) bool {
	kept = strings.TrimPrefix(kept, stopFeedback)
	if strings.HasPrefix(kept, hookPrompt) {
		_, inner, _ := strings.Cut(kept, ">")
		kept = html.UnescapeString(strings.TrimSuffix(strings.TrimSpace(inner), hookPromptEnd))
	}
	return kept != "" && plain(kept) == plain(text)
}

func plain(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
}
