package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/term"
)

// turn is one exchange of a CLI with its terminal: the CLI writes, then reads exactly what is typed.
type turn struct{ Says, Types []byte }

func says(text string) turn         { return turn{Says: []byte(text)} }
func asks(query, reply string) turn { return turn{Says: []byte(query), Types: []byte(reply)} }
func reads(keys string) turn        { return turn{Types: []byte(keys)} }

// dialog is the scenario that plays turns from a file and writes what it read to another.
func dialog(args []string) int {
	raw, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Println(err)
		return 1
	}
	var turns []turn
	if err := json.Unmarshal(raw, &turns); err != nil {
		fmt.Println(err)
		return 1
	}
	if _, err := term.MakeRaw(0); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Print(dialogBegins)
	var got []byte
	for _, t := range turns {
		_, _ = os.Stdout.Write(t.Says)
		buf := make([]byte, len(t.Types))
		n, err := io.ReadFull(os.Stdin, buf)
		got = append(got, buf[:n]...)
		if err != nil {
			fmt.Println(err)
			break
		}
	}
	if err := os.WriteFile(args[1], got, 0o600); err != nil {
		fmt.Println(err)
	}
	return 0
}

const dialogBegins = "begin|"

// play plays the turns natively and hosted, and proves that both terminals saw the same bytes and both CLIs
// read the same, which is all that was typed and nothing else.
func (s *stage) play(t *testing.T, turns []turn) {
	t.Helper()
	turns = append(turns, says("|end"), reads("Z"))
	script := filepath.Join(t.TempDir(), "turns")
	raw, err := json.Marshal(turns)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var typed, said []byte
	for _, turn := range turns {
		typed, said = append(typed, turn.Types...), append(said, turn.Says...)
	}
	want := dialogBegins + string(said)
	for name, start := range map[string]func(...string) *screen{"native": s.native, "hosted": s.hosted} {
		log := filepath.Join(t.TempDir(), name)
		c := start("dialog", script, log)
		c.expect(dialogBegins)
		for _, turn := range turns {
			c.expect(string(turn.Says))
			c.typed(string(turn.Types))
		}
		if status := c.exit(); status != 0 {
			t.Errorf("%s: status %v", name, status)
		}
		if got := string(c.output()); got != want {
			t.Errorf("%s: the terminal saw\n%q, want\n%q", name, tail([]byte(got)), tail([]byte(want)))
		}
		if got, _ := os.ReadFile(log); !bytes.Equal(got, typed) {
			t.Errorf("%s: the CLI read\n%q, want\n%q", name, tail(got), tail(typed))
		}
	}
}
