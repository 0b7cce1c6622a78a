// Interleave times commands in turn, so that whatever else the machine does
// falls on all of them alike, and prints the median of each and what it costs
// over the first, as a multiple of what the second costs over it; with -whole,
// as a multiple of the first.
//
//	interleave -n RUNS [-whole] [-stdin FILE] NAME=COMMAND NAME=COMMAND...
//
// A command is split at blanks and started without a shell.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

type subject struct {
	name string
	argv []string
	took []time.Duration
}

func main() {
	var b bench
	flag.IntVar(&b.runs, "n", 300, "runs of each command")
	flag.BoolVar(&b.whole, "whole", false, "ratios of the whole time to the first's")
	flag.StringVar(&b.stdin, "stdin", "", "a file for each command's standard input")
	flag.Parse()
	if err := b.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "interleave:", err)
		os.Exit(1)
	}
}

type bench struct {
	runs  int
	whole bool
	stdin string
}

func (b bench) run(args []string) error {
	var subjects []*subject
	for _, arg := range args {
		name, command, ok := strings.Cut(arg, "=")
		if argv := strings.Fields(command); ok && len(argv) > 0 {
			subjects = append(subjects, &subject{name: name, argv: argv})
			continue
		}
		return fmt.Errorf("%q is not NAME=COMMAND", arg)
	}
	for range b.runs {
		for _, s := range subjects {
			took, err := b.once(s.argv)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.took = append(s.took, took)
		}
	}
	return b.report(subjects)
}

func (b bench) once(argv []string) (time.Duration, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	if b.stdin != "" {
		f, err := os.Open(b.stdin)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	began := time.Now()
	err := cmd.Run()
	return time.Since(began), err
}

func (b bench) report(subjects []*subject) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "what\tmedian µs\tover the first\tratio\t")
	first := subjects[0].median()
	for i, s := range subjects {
		over := s.median() - first
		ratio := "-"
		if b.whole {
			ratio = fmt.Sprintf("%.2f", float64(s.median())/float64(subjects[0].median()))
		} else if peer := subjects[min(1, len(subjects)-1)].median() - first; i > 0 && peer > 0 {
			ratio = fmt.Sprintf("%.2f", float64(over)/float64(peer))
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t\n", s.name, s.median().Microseconds(), over.Microseconds(), ratio)
	}
	return w.Flush()
}

func (s *subject) median() time.Duration {
	sorted := slices.Sorted(slices.Values(s.took))
	return sorted[len(sorted)/2]
}
