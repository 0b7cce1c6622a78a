package present

import (
	"bufio"
	"io"
	"slices"
	"strings"
)

// Column is one column of a table.
type Column struct {
	Title string
	// Right aligns numbers.
	Right bool
	// Min is how many cells the column may be cut down to on a narrow screen;
	// 0 for a column that is never cut.
	Min int
	// Drop is the order in which columns are left out where cutting is not
	// enough: the highest first; 0 for a column that always stays.
	Drop int
}

// Cell is one field of a row.
type Cell struct {
	// Text is for people; it is made harmless and may be cut.
	Text string
	// Raw is for programs: whole and unrounded. Empty means Text.
	Raw  string
	Tone Tone
}

// Table is rows under columns. Rows must have as many cells as columns.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// gap stands between two columns.
const gap = "  "

// Write prints the table for a screen: aligned, fitted to its width, with a
// line of titles; or, where it is no terminal, as TSV: a row a line, fields
// separated by one tab, no titles, no colours.
func (t *Table) Write(w io.Writer, s Screen) error {
	out := bufio.NewWriter(w)
	if s.Terminal {
		t.writeAligned(out, s)
	} else {
		t.writeTSV(out)
	}
	return out.Flush()
}

func (t *Table) writeTSV(w *bufio.Writer) {
	for _, row := range t.Rows {
		for i, c := range row {
			if i > 0 {
				w.WriteByte('\t')
			}
			if c.Raw == "" {
				c.Raw = c.Text
			}
			w.WriteString(Line(c.Raw))
		}
		w.WriteByte('\n')
	}
}

func (t *Table) writeAligned(w *bufio.Writer, s Screen) {
	for _, row := range t.Rows {
		for i := range row {
			row[i].Text = Line(row[i].Text)
		}
	}
	widths := t.fit(s.Width)
	titles := make([]Cell, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = Cell{Text: c.Title, Tone: Dim}
	}
	t.writeRow(w, s, titles, widths)
	for _, row := range t.Rows {
		t.writeRow(w, s, row, widths)
	}
}

// writeRow leaves no blanks at the end of a line.
func (t *Table) writeRow(w *bufio.Writer, s Screen, row []Cell, widths []int) {
	blanks := 0
	first := true
	for i, c := range row {
		if widths[i] == 0 {
			continue
		}
		if !first {
			blanks += len(gap)
		}
		first = false
		text := Cut(c.Text, widths[i])
		pad := widths[i] - Width(text)
		if t.Columns[i].Right {
			blanks, pad = blanks+pad, 0
		}
		if text != "" {
			w.WriteString(strings.Repeat(" ", blanks))
			w.WriteString(s.Tint(c.Tone, text))
			blanks = 0
		}
		blanks += pad
	}
	w.WriteByte('\n')
}

// fit decides each column's width in cells; 0 leaves it out. A column without
// anything in it is left out first of all, if it may be.
func (t *Table) fit(screen int) []int {
	natural := t.natural()
	for {
		widths := slices.Clone(natural)
		for screen > 0 && total(widths) > screen && t.cutWidest(widths, total(widths)-screen) {
		}
		if screen <= 0 || total(widths) <= screen || !t.dropOne(natural) {
			return widths
		}
	}
}

func (t *Table) natural() []int {
	widths := make([]int, len(t.Columns))
	for _, row := range t.Rows {
		for i, c := range row {
			widths[i] = max(widths[i], Width(c.Text))
		}
	}
	for i, c := range t.Columns {
		if widths[i] > 0 || c.Drop == 0 {
			widths[i] = max(widths[i], Width(c.Title), 1)
		}
	}
	return widths
}

// cutWidest takes up to excess cells from the widest column that may be cut.
func (t *Table) cutWidest(widths []int, excess int) bool {
	widest, second := -1, 0
	for i, c := range t.Columns {
		if c.Min == 0 || widths[i] <= c.Min {
			continue
		}
		if widest < 0 || widths[i] > widths[widest] {
			widest = i
		}
	}
	if widest < 0 {
		return false
	}
	for i, c := range t.Columns {
		if i != widest && c.Min > 0 {
			second = max(second, widths[i])
		}
	}
	// Down to the next widest at most, so that two long columns share the loss.
	floor := max(t.Columns[widest].Min, min(second, widths[widest]-1))
	widths[widest] = max(floor, widths[widest]-excess)
	return true
}

func (t *Table) dropOne(widths []int) bool {
	drop := -1
	for i, c := range t.Columns {
		if c.Drop > 0 && widths[i] > 0 && (drop < 0 || c.Drop > t.Columns[drop].Drop) {
			drop = i
		}
	}
	if drop < 0 {
		return false
	}
	widths[drop] = 0
	return true
}

func total(widths []int) int {
	sum := -len(gap)
	for _, w := range widths {
		if w > 0 {
			sum += w + len(gap)
		}
	}
	return max(sum, 0)
}
