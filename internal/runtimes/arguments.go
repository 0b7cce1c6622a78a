package runtimes

import (
	"slices"
	"strings"
)

// hasFlag tells whether one of the flags stands among the arguments, alone or
// with =value, before a --.
func hasFlag(args []string, flags ...string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains(flags, name) {
			return true
		}
	}
	return false
}

// flagValue is the value of the first of the flags, as --flag value or
// --flag=value; "" where it has none.
func flagValue(args []string, flags ...string) string {
	for i, arg := range args {
		if arg == "--" {
			return ""
		}
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(flags, name):
		case joined:
			return value
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			return args[i+1]
		default:
			return ""
		}
	}
	return ""
}

// firstWord is the first argument that is neither a flag nor the value of one
// of valueFlags; "" for none.
func firstWord(args []string, valueFlags []string) string {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return ""
		case slices.Contains(valueFlags, arg):
			i++
		case !strings.HasPrefix(arg, "-"):
			return arg
		}
	}
	return ""
}

// isUUID tells whether s has the form 8-4-4-4-12 of hexadecimal digits: the
// conversation ids of the CLIs. What has another form may be a title to
// search for, which proves no conversation.
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

// uuidOf is the value of one of the flags where it is a conversation's id.
func uuidOf(args []string, flags ...string) string {
	if id := flagValue(args, flags...); isUUID(id) {
		return id
	}
	return ""
}
