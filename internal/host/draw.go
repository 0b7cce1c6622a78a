package host

import (
	"bytes"
	"fmt"

	"agentwrap/internal/host/ctlseq"
	"agentwrap/internal/tmuxhost"
)

// scrollAway moves what a terminal of that many rows shows above the cursor's line into its history, and clears
// it: what its shell wrote stays.
func scrollAway(rows uint16) []byte {
	return append(bytes.Repeat([]byte("\r\n"), max(int(rows), 1)-1), "\x1b[H\x1b[J"...)
}

// picture makes what draws the session on a fresh terminal, from the mirror or, without one, by repeating the
// last output; h.drawing gets it.
func (h *holder) picture() {
	if h.mirror == nil {
		h.drawRing()
		return
	}
	m, wanted := h.mirror, h.drawing
	m.barrier(func(done func()) {
		go func() {
			picture, err := m.server.Capture()
			h.mail.post(func() {
				done()
				switch {
				case h.drawing != wanted:
				case err != nil:
					h.drawRing()
				default:
					h.drawn(drawPicture(&picture, &h.output.filter.Modes))
				}
			})
		}()
	}, h.drawRing)
}

func (h *holder) drawRing() {
	var replay ctlseq.Filter
	picture := replay.Feed(nil, h.output.ring.last(), ctlseq.Replay)
	h.drawn(append(picture, h.output.filter.Modes.Set()...))
}

// drawPicture draws history and screen as they were written, so that the terminal keeps the history, then
// puts modes and cursor in place.
func drawPicture(p *tmuxhost.Picture, modes *ctlseq.Modes) []byte {
	out := ctlseq.Lines(nil, p.Main)
	out = append(out, modes.Keyboard(false)...)
	if p.Alternate {
		out = fmt.Appendf(out, "\x1b[%d;%dH", p.SavedY+1, p.SavedX+1)
		out = append(out, modes.EnterAlternate()...)
		out = append(out, "\x1b[H"...)
		out = ctlseq.Lines(out, p.AlternateNow)
		out = append(out, modes.Keyboard(true)...)
	}
	row := p.CursorY
	if p.RegionTop != 0 || p.RegionBottom != p.Rows-1 {
		out = fmt.Appendf(out, "\x1b[%d;%dr", p.RegionTop+1, p.RegionBottom+1)
		if p.OriginInRegion {
			row -= p.RegionTop
		}
	}
	out = append(out, modes.Set()...)
	return fmt.Appendf(out, "\x1b[%d;%dH", row+1, p.CursorX+1)
}
