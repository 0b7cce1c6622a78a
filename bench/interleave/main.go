// Interleave times commands in turn, so that whatever else the machine does
// falls on all of them alike, and prints the median of each and what it costs
// over the first, as a multiple of what the second costs over it.
//
//	interleave -n RUNS NAME=COMMAND NAME=COMMAND...
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
	runs := flag.Int("n", 300, "runs of each command")
	flag.Parse()
	if err := run(*runs, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "interleave:", err)
		os.Exit(1)
	}
}

func run(runs int, args []string) error {
	var subjects []*subject
	for _, arg := range args {
		name, command, ok := strings.Cut(arg, "=")
		if argv := strings.Fields(command); ok && len(argv) > 0 {
			subjects = append(subjects, &subject{name: name, argv: argv})
			continue
		}
		return fmt.Errorf("%q is not NAME=COMMAND", arg)
	}
	for range runs {
		for _, s := range subjects {
			began := time.Now()
			if err := exec.Command(s.argv[0], s.argv[1:]...).Run(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.took = append(s.took, time.Since(began))
		}
	}
	return report(subjects)
}

func report(subjects []*subject) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "what\tmedian µs\tover the first\tratio\t")
	first := subjects[0].median()
	for i, s := range subjects {
		over := s.median() - first
		ratio := "-"
		if peer := subjects[min(1, len(subjects)-1)].median() - first; i > 0 && peer > 0 {
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
