package runtimes

import (
	"iter"
	"slices"
	"strings"
)

// Flag is one of a CLI's flags.
type Flag struct {
	// Names are all it has, separated by blanks: "-m --model".
	Names string
	Takes Takes
	// Keep is the form that its values must have to be kept for a resume.
	Keep Keep
}

// Takes is what a flag takes of the arguments behind it. A value joined to it
// (--flag=value, -fvalue) is its value in every case.
type Takes int

const (
	Nothing Takes = iota
	// Value is the next argument, whatever it is.
	Value
	// Maybe is the next argument unless that is a flag.
	Maybe
	// Many are the next arguments up to a flag.
	Many
)

// item is a flag with its values, or a word, of a command line.
type item struct {
	// name is the flag as it stands there, or the word.
	name string
	// flag is what is known of it; nil for an unknown flag and for a word.
	flag   *Flag
	values []string
	// joined tells that the value stands in the flag's own argument, behind sep.
	joined bool
	sep    string
}

func (i item) isWord() bool { return !strings.HasPrefix(i.name, "-") }

// is tells a flag by one of its names.
func (i item) is(name string) bool {
	return i.name == name || i.flag != nil && i.flag.has(name)
}

func (i item) isAny(names []string) bool { return slices.ContainsFunc(names, i.is) }

// matches is is, but for a name that ends in * and is the beginning of one.
func (i item) matches(name string) bool {
	prefix, isPrefix := strings.CutSuffix(name, "*")
	return i.is(name) || isPrefix && strings.HasPrefix(i.name, prefix)
}

func (f *Flag) has(name string) bool {
	for names := f.Names; len(names) >= len(name); {
		at := strings.IndexByte(names, ' ')
		if at < 0 {
			return names == name
		}
		if names[:at] == name {
			return true
		}
		names = names[at+1:]
	}
	return false
}

func (p *Profile) flag(name string) *Flag {
	for i := range p.Flags {
		if p.Flags[i].has(name) {
			return &p.Flags[i]
		}
	}
	return nil
}

// items are the flags and words of a command line, as the CLI reads it, up to
// a --: what follows that is neither.
func (p *Profile) items(args []string) iter.Seq[item] {
	return func(yield func(item) bool) {
		for len(args) > 0 && args[0] != "--" {
			arg := args[0]
			args = args[1:]
			if !strings.HasPrefix(arg, "-") || arg == "-" {
				if !yield(item{name: arg}) {
					return
				}
				continue
			}
			for _, i := range p.flagsIn(arg) {
				if !i.joined && i.flag != nil {
					i.values, args = i.flag.take(args)
				}
				if !yield(i) {
					return
				}
			}
		}
	}
}

// flagsIn are the flags of one argument: one, or short ones together (-cp).
func (p *Profile) flagsIn(arg string) []item {
	name, value, joined := strings.Cut(arg, "=")
	if flag := p.flag(name); flag != nil || strings.HasPrefix(arg, "--") {
		i := item{name: name, flag: flag, joined: joined}
		if joined {
			i.values, i.sep = []string{value}, "="
		}
		return []item{i}
	}
	var list []item
	for at := 1; at < len(arg); at++ {
		i := item{name: "-" + arg[at:at+1]}
		if i.flag = p.flag(i.name); i.flag == nil {
			return []item{{name: arg}}
		}
		if rest := arg[at+1:]; rest != "" && i.flag.Takes != Nothing {
			i.values, i.joined = []string{rest}, true
			return append(list, i)
		}
		list = append(list, i)
	}
	return list
}

// take splits what a flag takes off the arguments behind it.
func (f *Flag) take(args []string) (values, rest []string) {
	n := 0
	switch f.Takes {
	case Value:
		n = min(1, len(args))
	case Maybe:
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			n = 1
		}
	case Many:
		for n < len(args) && !strings.HasPrefix(args[n], "-") {
			n++
		}
	}
	return args[:n], args[n:]
}

// words are the words of a command line.
func (p *Profile) words(args []string) []string {
	var list []string
	for i := range p.items(args) {
		if i.isWord() {
			list = append(list, i.name)
		}
	}
	return list
}
