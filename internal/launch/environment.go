package launch

import "strings"

// environment is what this process was started with, item by item: the CLI
// gets it as it is, duplicates and malformed items included.
type environment []string

func (e environment) lookup(name string) (string, bool) {
	for _, item := range e {
		if key, value, ok := strings.Cut(item, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// get is the value of a variable, "" for none.
func (e environment) get(name string) string {
	value, _ := e.lookup(name)
	return value
}

// with is the environment with a variable set, in its old place if it had one.
func (e environment) with(name, value string) environment {
	out := make(environment, 0, len(e)+1)
	set := false
	for _, item := range e {
		key, _, ok := strings.Cut(item, "=")
		switch {
		case !ok || key != name:
			out = append(out, item)
		case !set:
			out, set = append(out, name+"="+value), true
		}
	}
	if !set {
		out = append(out, name+"="+value)
	}
	return out
}

// without is the environment with a variable taken out.
func (e environment) without(name string) environment {
	out := make(environment, 0, len(e))
	for _, item := range e {
		if key, _, ok := strings.Cut(item, "="); !ok || key != name {
			out = append(out, item)
		}
	}
	return out
}
