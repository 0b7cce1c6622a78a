// Package settings reads the user's settings, ~/.config/agentwrap/config.json,
// for whoever behaves by them. No file is normal. A key that is unknown or has a
// bad value is told, and its default stands (docs/settings.md).
package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentwrap/internal/statefile"
)

// fileLimit bounds the file, in bytes.
const fileLimit = 256 << 10

// Settings are what the user chose, or the defaults.
type Settings struct {
	Notify  Notify
	Rescue  Rescue
	Scratch Scratch
	// IdleExit is how long hosted sessions of a runtime must have been idle until
	// they end by themselves, where the session has no policy of its own.
	IdleExit map[string]time.Duration
	// DetachKey leaves a hosted session, such as "ctrl-]"; "" for none.
	DetachKey string
	// ReopenAtLogin brings lost sessions back when the user logs in.
	ReopenAtLogin bool
}

// Notify is what the user is told of, and how.
type Notify struct {
	// Command tells the user: it is run with a summary and a text as its last
	// two arguments. Empty: notify-send, where there is one.
	Command []string
	// Lost, NeedsYou and Finished are the events that are told.
	Lost, NeedsYou, Finished bool
	// Attached tells of sessions that the user is attached to, too.
	Attached bool
	// FinishedAfter is how long a run must have taken for its end to be told.
	FinishedAfter time.Duration
}

// Rescue caps one snapshot of uncommitted work, in bytes.
type Rescue struct{ FileLimit, TotalLimit int64 }

// Scratch is how scratch folders are looked after.
type Scratch struct {
	// Days is how long an ended session's folder rests before it is removed.
	Days int
	// NoticeBytes is the size over which a folder is told of.
	NoticeBytes int64
}

// Defaults are the settings of a user who chose nothing.
func Defaults() Settings {
	return Settings{
		Notify:  Notify{Lost: true, NeedsYou: true, Finished: true, FinishedAfter: 10 * time.Minute},
		Rescue:  Rescue{FileLimit: 100 << 20, TotalLimit: 1 << 30},
		Scratch: Scratch{Days: 7, NoticeBytes: 10 << 30},
	}
}

// Path is where the settings stand for an environment, "" without a HOME.
func Path(getenv func(string) string) string {
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "agentwrap", "config.json")
	}
	return ""
}

// Read reads the settings. Each problem is a sentence with the file and the key;
// the settings stand all the same.
func Read(getenv func(string) string) (s Settings, problems []error) {
	s = Defaults()
	path := Path(getenv)
	if path == "" {
		return s, nil
	}
	raw, err := statefile.Read(path, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, []error{fmt.Errorf("read the settings: %w", err)}
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return s, []error{fmt.Errorf("settings %s are not used: %w", path, place(raw, err))}
	}
	for _, p := range s.take("", given) {
		problems = append(problems, fmt.Errorf("settings %s: %w", path, p))
	}
	return s, problems
}

// take sets the keys of an object; prefix is where the object stands.
func (s *Settings) take(prefix string, given map[string]json.RawMessage) (problems []error) {
	known := s.keys()
	for _, name := range sortedKeys(given) {
		key, value := prefix+name, given[name]
		var inner map[string]json.RawMessage
		switch set, ok := known[key]; {
		case ok:
			if err := set(value); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w: its default stands", key, err))
			}
		case isGroup(known, key) && json.Unmarshal(value, &inner) == nil:
			problems = append(problems, s.take(key+".", inner)...)
		case isGroup(known, key):
			problems = append(problems, fmt.Errorf("%s is not an object: its defaults stand", key))
		default:
			problems = append(problems, fmt.Errorf("there is no setting %.80q", key))
		}
	}
	return problems
}

func isGroup(known map[string]setter, key string) bool {
	for name := range known {
		if strings.HasPrefix(name, key+".") {
			return true
		}
	}
	return false
}

func sortedKeys(m map[string]json.RawMessage) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// place adds the line to what JSON says is wrong.
func place(raw []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(-1)
	if errors.As(err, &syntax) {
		at = syntax.Offset
	} else if errors.As(err, &kind) {
		at = kind.Offset
	}
	if at < 0 || at > int64(len(raw)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+strings.Count(string(raw[:at]), "\n"), err)
}
