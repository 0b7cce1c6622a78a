// Package screen plays what draws a session's screen on a terminal that nobody
// sees, and tells what stands there: for peek, and for whoever types into a
// session and must know what is on its screen first.
package screen

import (
	"io"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"

	"agentwrap/internal/present"
)

// Screen is what a terminal shows. Nothing of the session's own sequences is
// left in it.
type Screen struct {
	vt *vt.Emulator
	// Row and Column are where the cursor is, from 0.
	Row, Column int
}

// Play draws on a terminal of a size in cells, 80 by 24 where none is given.
func Play(picture []byte, columns, rows int) Screen {
	if columns <= 0 || rows <= 0 {
		columns, rows = 80, 24
	}
	s := Screen{vt: vt.NewEmulator(columns, rows)}
	// What the terminal would answer goes nowhere.
	go func() { _, _ = io.Copy(io.Discard, s.vt) }()
	_, _ = s.vt.Write(picture)
	at := s.vt.CursorPosition()
	s.Row, s.Column = at.Y, at.X
	return s
}

// Close ends the terminal.
func (s Screen) Close() { _ = s.vt.InputPipe().(io.Closer).Close() }

// Lines are the rows as harmless text, without the blanks at their ends and the
// empty rows below.
func (s Screen) Lines() []string { return lines(present.Lines(s.vt.String())) }

// Coloured is Lines with the colours of the cells.
func (s Screen) Coloured() []string { return lines(s.vt.Render()) }

func lines(text string) []string {
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " \u00a0")
	}
	for len(all) > 0 && all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// Solid is a row's text without what is printed faintly, as hints are.
func (s Screen) Solid(row int) string {
	var b strings.Builder
	for x := range s.vt.Width() {
		switch c := s.vt.CellAt(x, row); {
		case c == nil || c.Width == 0 && c.Content == "":
		case c.Style.Attrs&uv.AttrFaint != 0 || c.Content == "":
			b.WriteByte(' ')
		default:
			b.WriteString(c.Content)
		}
	}
	return strings.TrimRight(strings.ReplaceAll(b.String(), "\u00a0", " "), " ")
}
