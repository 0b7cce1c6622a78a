package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pageName is the name of a command's manual page: agent-sessions-list.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is a command's manual page in the man macros. It carries no date, so
// that one version always gives the same bytes.
func manPage(c *cobra.Command) string {
	p := &page{}
	p.line(".TH %s 1 \"\" %s \"User Commands\"", quoted(strings.ToUpper(pageName(c))), quoted("agent-sessions "+version))
	p.section("NAME")
	p.text(pageName(c) + " - " + c.Short)
	p.section("SYNOPSIS")
	p.line(".B %s", roff(c.CommandPath()))
	if _, operands, ok := strings.Cut(c.Use, " "); ok {
		p.text(operands)
	}
	if c.HasAvailableFlags() {
		p.text("[flags]")
	}
	p.section("DESCRIPTION")
	p.text(c.Long)
	p.commands(c)
	p.flags(c)
	p.section("EXIT STATUS")
	p.verbatim(strings.TrimPrefix(c.Annotations[exitsKey], "EXIT STATUS\n"))
	p.section("EXAMPLES")
	p.verbatim(c.Example)
	p.seeAlso(c)
	return p.String()
}

// page is a manual page being written.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) section(title string) { p.line(".SH %s", title) }

// text writes paragraphs; a blank line or an indented one begins another.
func (p *page) text(s string) {
	for i, line := range strings.Split(strings.TrimSpace(s), "\n") {
		switch {
		case line == "":
			p.line(".PP")
		case i > 0 && line[0] == ' ':
			p.line(".br\n%s", roff(line))
		default:
			p.line("%s", roff(line))
		}
	}
}

// verbatim writes lines as they are.
func (p *page) verbatim(s string) {
	p.line(".nf")
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		p.line("%s", roff(strings.TrimRight(line, "\n")))
	}
	p.line(".fi")
}

func (p *page) commands(c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	p.section("COMMANDS")
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			p.line(".TP\n.B %s\n%s", roff(sub.Name()), roff(sub.Short))
		}
	}
}

func (p *page) flags(c *cobra.Command) {
	if !c.HasAvailableFlags() {
		return
	}
	p.section("OPTIONS")
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		names := "--" + f.Name
		if f.Shorthand != "" {
			names = "-" + f.Shorthand + ", " + names
		}
		value, usage := pflag.UnquoteUsage(f)
		p.line(".TP\n\\fB%s\\fR \\fI%s\\fR\n%s", roff(names), roff(value), roff(usage))
	})
}

func (p *page) seeAlso(c *cobra.Command) {
	var others []string
	if c.HasParent() {
		others = append(others, pageName(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			others = append(others, pageName(sub))
		}
	}
	if len(others) == 0 {
		return
	}
	p.section("SEE ALSO")
	for i, name := range others {
		comma := ","
		if i == len(others)-1 {
			comma = ""
		}
		p.line(".BR %s (1)%s", roff(name), comma)
	}
}

// roff escapes a line of text: no character of it is a request, and hyphens
// stay what a person can copy.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

func quoted(s string) string { return `"` + strings.ReplaceAll(roff(s), `"`, `\(dq`) + `"` }
