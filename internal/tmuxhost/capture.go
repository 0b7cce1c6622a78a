package tmuxhost

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Picture is all that a pane shows and remembers. Lines are as capture-pane -e -J gives them: with their SGR
// sequences, each line's beginning with the attributes that the one before ended with; wrapped ones joined.
type Picture struct {
	Alternate    bool   // the program is on the alternate screen
	Main         []byte // history and main screen, oldest line first
	AlternateNow []byte // the alternate screen, where it is on it

	Rows            int
	CursorX         int // from 0
	CursorY         int
	SavedX, SavedY  int // where the main screen's cursor will be
	RegionTop       int // scroll region, from 0
	RegionBottom    int
	OriginInRegion  bool
	InsertCharacter bool
}

// ErrBadAnswer is returned for an answer of tmux's that cannot be read.
var ErrBadAnswer = errors.New("tmux gave an answer that cannot be read")

const pictureFormat = "#{alternate_on} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_saved_x} #{alternate_saved_y} " +
	"#{scroll_region_upper} #{scroll_region_lower} #{origin_flag} #{insert_flag} #{history_size}"

// Capture is the picture of the session's pane. It takes one call, so that its parts belong together.
func (s Server) Capture() (Picture, error) {
	mark := "agentwrap" + strconv.FormatInt(time.Now().UnixNano(), 36)
	say := []string{"display-message", "-p", "-t", Session}
	capture := "capture-pane -p -e -J -t " + Session
	out, err := s.call(append(say, pictureFormat, ";", "if-shell", "-F", "-t", Session, "#{alternate_on}",
		// The history goes without the main screen's lines, which are saved and come by -a; its last line, if
		// there is none, is not to be had.
		fmt.Sprintf("if-shell -F -t %[1]s '#{history_size}' '%[2]s -S - -E -1' ; %[2]s -a ; display-message -p -t %[1]s %[3]s ; %[2]s", Session, capture, mark),
		capture+" -S -")...)
	if err != nil {
		return Picture{}, err
	}
	return parsePicture(out, []byte(mark+"\n"))
}

func parsePicture(out, mark []byte) (p Picture, err error) {
	head, body, found := bytes.Cut(out, []byte("\n"))
	if !found {
		return p, ErrBadAnswer
	}
	numbers := make([]int, 0, 11)
	for field := range bytes.FieldsSeq(head) {
		n, err := strconv.Atoi(string(field))
		if err != nil {
			return p, fmt.Errorf("%w: %q", ErrBadAnswer, head)
		}
		numbers = append(numbers, n)
	}
	if len(numbers) != cap(numbers) {
		return p, fmt.Errorf("%w: %q", ErrBadAnswer, head)
	}
	n := numbers
	p = Picture{
		Alternate: n[0] == 1, Rows: n[1], CursorX: n[2], CursorY: n[3], SavedX: n[4], SavedY: n[5],
		RegionTop: n[6], RegionBottom: n[7], OriginInRegion: n[8] == 1, InsertCharacter: n[9] == 1, Main: body,
	}
	if p.Alternate {
		if p.Main, p.AlternateNow, found = bytes.Cut(body, mark); !found {
			return p, fmt.Errorf("%w: the alternate screen is missing", ErrBadAnswer)
		}
	}
	return p, nil
}

// Screen is what the session's pane shows, as Picture's lines, and where its
// cursor is, from 0.
func (s Server) Screen() (lines []byte, x, y int, err error) {
	out, err := s.call("display-message", "-p", "-t", Session, "#{cursor_x} #{cursor_y}", ";", "capture-pane", "-p", "-e", "-J", "-t", Session)
	if err != nil {
		return nil, 0, 0, err
	}
	head, lines, found := bytes.Cut(out, []byte("\n"))
	if n, err := fmt.Sscanf(string(head), "%d %d", &x, &y); !found || n != 2 || err != nil {
		return nil, 0, 0, fmt.Errorf("%w: %q", ErrBadAnswer, head)
	}
	return lines, x, y, nil
}
