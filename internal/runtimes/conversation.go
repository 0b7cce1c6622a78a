package runtimes

import (
	"fmt"
	"strings"
)

// ResumeID is the conversation that the arguments name, "" for none. A value
// that has not the form of an id is a title to search for, and proves none.
func (p Profile) ResumeID(args []string) string {
	var resumed, begun string
	fork := false
	for i := range p.items(args) {
		switch {
		case i.isAny(p.ForkFlags):
			fork = true
		case len(i.values) != 1 || !p.IsID(i.values[0]):
		case i.isAny(p.NewIDFlags):
			begun = i.values[0]
		case i.isAny(p.IDFlags):
			resumed = i.values[0]
		}
	}
	switch {
	case begun != "":
		return begun
	case fork:
		return ""
	case resumed != "":
		return resumed
	}
	return p.idAfterWords(args)
}

func (p Profile) idAfterWords(args []string) string {
	words := p.words(args)
	for _, before := range p.IDWords {
		n := len(strings.Fields(before))
		if len(words) > n && strings.Join(words[:n], " ") == before && p.IsID(words[n]) {
			return words[n]
		}
	}
	return ""
}

// IsID tells whether a text has the form of the CLI's conversation ids.
func (p Profile) IsID(s string) bool {
	if p.IDForm == "" {
		return isUUID(s)
	}
	rest, ok := strings.CutPrefix(s, strings.TrimSuffix(p.IDForm, "*"))
	return ok && rest != "" && len(s) <= 128 && s[0] != '-' && strings.Trim(rest, idChars) == ""
}

const idChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// isUUID tells the form 8-4-4-4-12 of hexadecimal digits.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}

// CanResume tells whether the CLI goes on with a conversation by its id.
func (p Profile) CanResume() bool { return len(p.ResumeArgs) > 0 }

// Resume are the arguments (without the name) that go on with a conversation,
// with those of the flags that KeptFlags keeps: whatever conflicts with them is
// not among these.
func (p Profile) Resume(id string, flags []string) ([]string, error) {
	switch {
	case !p.CanResume():
		return nil, fmt.Errorf("%s cannot go on with a conversation by its id", p.Name)
	case !p.IsID(id):
		return nil, fmt.Errorf("%q is no conversation id of %s", id, p.Name)
	}
	kept := p.KeptFlags(flags)
	var args []string
	for _, arg := range p.ResumeArgs {
		if arg == "{flags}" {
			args, kept = append(args, kept...), nil
			continue
		}
		args = append(args, strings.ReplaceAll(arg, "{id}", id))
	}
	return append(args, kept...), nil
}

// NewArgs are the arguments that begin a conversation with a model and a
// prompt; "" is for the CLI's own choice, and for none.
func (p Profile) NewArgs(model, prompt string) ([]string, error) {
	const modelFlag = "--model"
	var args []string
	if model != "" {
		if f := p.flag(modelFlag); f == nil || f.Takes != Value {
			return nil, fmt.Errorf("how %s is told a model is not known: give its own arguments behind --", p.Name)
		}
		args = append(args, modelFlag, model)
	}
	if prompt == "" {
		return args, nil
	}
	if len(p.PromptArgs) == 0 {
		return nil, fmt.Errorf("how %s is told a first prompt is not known: give its own arguments behind --", p.Name)
	}
	for _, arg := range p.PromptArgs {
		args = append(args, strings.ReplaceAll(arg, "{prompt}", prompt))
	}
	return args, nil
}
