package hookconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/tailscale/hujson"
)

// command is what a CLI runs, by `sh -c`: it does no harm once the program is
// gone, and it works on versions that know no `args`.
func command(program, cli string) string {
	path := shellquote.Join(program)
	return "test -x " + path + " && exec " + path + " hook " + cli + "; exit 0"
}

// isOurs tells whether a command is one that calls us for a CLI, in this form or
// in an earlier one, wherever the program was.
func isOurs(command string, args []string, cli string) bool {
	words, err := shellquote.Split(command)
	if err != nil {
		return false
	}
	words = append(words, args...)
	for i := 0; i+2 < len(words); i++ {
		if filepath.Base(words[i]) == "agent-sessions" && words[i+1] == "hook" && strings.TrimSuffix(words[i+2], ";") == cli {
			return true
		}
	}
	return false
}

// entry is one hook as the CLIs' files have it.
type entry struct {
	Name    string   `json:"name,omitempty"`
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Timeout int      `json:"timeout,omitempty"`
}

// group is a matcher's hooks.
type group struct {
	Hooks []entry `json:"hooks"`
}

func (t *target) entry(program string) entry {
	if t.flat {
		return entry{Command: command(program, t.cli)}
	}
	e := entry{Type: "command", Command: command(program, t.cli), Timeout: t.timeout}
	if t.named {
		e.Name = "agent-sessions"
	}
	return e
}

// parse reads a settings file; an absent or empty one is an empty object.
func (t *target) parse(raw []byte) (hujson.Value, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}\n")
	}
	v, err := hujson.Parse(raw)
	if err != nil {
		return v, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if !t.comments && !v.IsStandard() {
		return v, fmt.Errorf("it has comments or trailing commas, which %s does not take in this file: remove them first", t.cli)
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return v, errors.New("it is no JSON object")
	}
	return v, nil
}

// install is the settings with our hooks in them, the rest as it stands.
func (t *target) install(raw []byte, program string) ([]byte, error) {
	doc, err := t.parse(raw)
	if err != nil {
		return nil, err
	}
	style := styleOf(doc)
	root := object{doc.Value.(*hujson.Object), style, 0}
	if t.version != 0 && root.member("version") == nil {
		root.add("version", t.version)
	}
	hooks, err := root.object("hooks")
	if err != nil {
		return nil, err
	}
	if err := t.strip(hooks, func(event string, e entry) bool { return !t.wanted(event, e, program) }); err != nil {
		return nil, err
	}
	for _, event := range t.events {
		if err := t.addTo(hooks, event, program); err != nil {
			return nil, err
		}
	}
	return doc.Pack(), nil
}

// wanted tells whether an entry of ours is just what install would add.
func (t *target) wanted(event string, e entry, program string) bool {
	want := t.entry(program)
	return slices.Contains(t.events, event) && e.Command == want.Command && e.Timeout == want.Timeout && e.Type == want.Type && e.Args == nil
}

func (t *target) addTo(hooks object, event, program string) error {
	list, err := hooks.list(event)
	if err != nil {
		return err
	}
	found := 0
	t.each(list, func(entry) bool { found++; return found > 1 })
	if found > 0 {
		return nil
	}
	if t.flat {
		list.add(t.entry(program))
	} else {
		list.add(group{[]entry{t.entry(program)}})
	}
	return nil
}

// uninstall is the settings without our hooks and without what they leave
// empty.
func (t *target) uninstall(raw []byte) ([]byte, error) {
	doc, err := t.parse(raw)
	if err != nil {
		return nil, err
	}
	root := object{doc.Value.(*hujson.Object), styleOf(doc), 0}
	if root.member("hooks") == nil {
		return raw, nil
	}
	hooks, err := root.object("hooks")
	if err != nil {
		return nil, err
	}
	found := 0
	err = t.strip(hooks, func(string, entry) bool { found++; return true })
	if err != nil || found == 0 {
		return raw, err
	}
	if len(hooks.Members) == 0 {
		root.remove("hooks")
	}
	return doc.Pack(), nil
}

// strip removes our entries that drop holds for, from every event, and the
// events that are left empty.
func (t *target) strip(hooks object, drop func(event string, e entry) bool) error {
	for _, m := range slices.Clone(hooks.Members) {
		event := m.Name.Value.(hujson.Literal).String()
		if _, ok := m.Value.Value.(*hujson.Array); !ok {
			if slices.Contains(t.events, event) {
				return fmt.Errorf("hooks.%s is no list", event)
			}
			continue
		}
		list, err := hooks.list(event)
		if err != nil {
			return err
		}
		before := len(list.Elements)
		t.each(list, func(e entry) bool { return drop(event, e) })
		if before > 0 && len(list.Elements) == 0 {
			hooks.remove(event)
		}
	}
	return nil
}

// each visits our entries in an event's list, from the last, and removes those
// for which visit says so, with the group around them where that leaves nothing
// in it.
func (t *target) each(l list, visit func(entry) bool) {
	for i := len(l.Elements) - 1; i >= 0; i-- {
		if e, ours := t.ours(l.Elements[i]); ours {
			if visit(e) {
				l.remove(i)
			}
		} else if o, ok := l.Elements[i].Value.(*hujson.Object); ok && t.eachInGroup(object{o, l.style, l.depth + 1}, visit) {
			l.remove(i)
		}
	}
}

// eachInGroup is each for one group; it tells whether the group is empty now.
func (t *target) eachInGroup(group object, visit func(entry) bool) (emptied bool) {
	inner, ok := group.existingList("hooks")
	if !ok {
		return false
	}
	for j := len(inner.Elements) - 1; j >= 0; j-- {
		if e, ours := t.ours(inner.Elements[j]); ours && visit(e) {
			inner.remove(j)
			emptied = len(inner.Elements) == 0
		}
	}
	return emptied
}

// ours reads an entry and tells whether it is one of ours.
func (t *target) ours(v hujson.Value) (e entry, ours bool) {
	plain := v.Clone()
	plain.Standardize()
	if json.Unmarshal(plain.Pack(), &e) != nil {
		return e, false
	}
	return e, isOurs(e.Command, e.Args, t.cli)
}
