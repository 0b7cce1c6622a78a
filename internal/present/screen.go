package present

import (
	"io"
	"os"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Screen is where output goes and what it can show.
type Screen struct {
	// Terminal is false for a pipe or a file: output is then for programs.
	Terminal bool
	// Width and Height are in cells; 0 where they are not known.
	Width, Height int
	// Colour is false on dumb terminals and where NO_COLOR is set.
	Colour bool
}

// ScreenOf looks at what w is. It asks the kernel, never the terminal.
func ScreenOf(w io.Writer, getenv func(string) string) Screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Screen{}
	}
	s := Screen{Terminal: true, Colour: getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
	if width, height, err := term.GetSize(int(f.Fd())); err == nil {
		s.Width, s.Height = width, height
	}
	return s
}

// Tone is what a text means to the eye; each screen shows it as it can.
// Nothing is ever told by a tone alone.
type Tone int

const (
	Plain  Tone = iota
	Strong      // what the eye is to find first
	Dim         // stale, or of little weight
	Alert       // lost or failed
	Good        // working, well
	Notice      // waits for the person
)

// Tint gives a harmless text its tone. The colours are the terminal's own.
func (s Screen) Tint(tone Tone, text string) string {
	if !s.Colour || tone == Plain || text == "" {
		return text
	}
	style := ansi.NewStyle()
	switch tone {
	case Strong:
		style = style.Bold()
	case Dim:
		style = style.Faint()
	case Alert:
		style = style.Bold().ForegroundColor(ansi.Red)
	case Good:
		style = style.ForegroundColor(ansi.Green)
	case Notice:
		style = style.ForegroundColor(ansi.Yellow)
	}
	return style.Styled(text)
}
