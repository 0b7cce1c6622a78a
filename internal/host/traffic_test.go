package host

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

const megabytes = 1 << 20

// much is how many megabytes a stream has, few how many runs a test of many has; all of both in CI.
func much() int { return inCI(50, 6) * megabytes }
func few() int  { return inCI(200, 5) }

func inCI(all, some int) int {
	if os.Getenv("CI") != "" {
		return all
	}
	return some
}

// pour is the scenario that writes so many bytes of text, always the same.
func pour(args []string) int {
	n, _ := strconv.Atoi(args[0])
	_, _ = term.MakeRaw(0)
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	_, _ = io.Copy(out, io.LimitReader(new(prose), int64(n)))
	_ = out.Flush()
	fmt.Print("|poured")
	return 0
}

// prose is endless text with colours, different all the way.
type prose struct {
	n    uint64
	rest []byte
}

func (p *prose) Read(buf []byte) (int, error) {
	for len(p.rest) < len(buf) {
		p.n++
		h := p.n * 0x9e3779b97f4a7c15
		p.rest = fmt.Appendf(p.rest, "\x1b[3%dm%x\x1b[m some text of a line that is %d bytes long or so \xe2\x9c\xb3\r\n", h>>61, h, h>>57)
	}
	n := copy(buf, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// drink is the scenario that reads so many bytes and tells their sum.
func drink(args []string) int {
	n, _ := strconv.ParseInt(args[0], 10, 64)
	_, _ = term.MakeRaw(0)
	fmt.Print("ready")
	sum := sha256.New()
	if _, err := io.CopyN(sum, os.Stdin, n); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%x|drunk", sum.Sum(nil))
	return 0
}

func TestFidelity25Output(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		n := strconv.Itoa(much())
		native := s.native("pour", n)
		native.exit()
		hosted := s.hosted("pour", n)
		hosted.exit()
		if want, got := sha256.Sum256(native.output()), sha256.Sum256(hosted.output()); got != want || len(native.output()) < much() {
			t.Errorf("native %d bytes, hosted %d", len(native.output()), len(hosted.output()))
		}
	})
}

func TestFidelity25OutputToAStalledTerminal(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		c := s.hosted("pour", strconv.Itoa(4*megabytes))
		c.expect("some text")
		resume := c.stall()
		var status Status
		eventually(t, "the CLI to wait for its terminal", func() bool {
			before := status
			status, _ = Ask(s.socket(c.id)) // the holder still answers
			return before.PID != 0 && blockedInWrite(status.PID)
		})
		resume()
		c.exit()
		want, _ := io.ReadAll(io.LimitReader(new(prose), 4*megabytes))
		if got := c.output(); string(got) != string(want)+"|poured" {
			t.Errorf("%d bytes, want %d", len(got), len(want))
		}
	})
}

// blockedInWrite tells whether a process sleeps in a write to its terminal.
func blockedInWrite(pid int) bool {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		call, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/syscall", pid, task.Name()))
		if bytes.HasPrefix(call, fmt.Appendf(nil, "%d ", unix.SYS_WRITE)) {
			return true
		}
	}
	return false
}

func TestFidelity25Input(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		input := make([]byte, much())
		rng := rand.NewChaCha8([32]byte{1})
		_, _ = rng.Read(input)
		c := s.hosted("drink", strconv.Itoa(len(input)))
		c.expect("ready")
		go func() { _, _ = c.term.Write(input) }()
		c.expect(fmt.Sprintf("%x|drunk", sha256.Sum256(input)))
		c.exit()
	})
}

// sizes is the scenario that tells its terminal's size now and whenever it changes.
func sizes([]string) int {
	changed := make(chan os.Signal, 64)
	signal.Notify(changed, unix.SIGWINCH)
	_, _ = term.MakeRaw(0)
	go func() {
		for {
			ws, _ := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
			fmt.Printf("size %dx%d %dx%d.\r\n", ws.Row, ws.Col, ws.Xpixel, ws.Ypixel)
			<-changed
		}
	}()
	var key [1]byte
	_, _ = readSome(0, key[:])
	return 0
}

func TestFidelity19Resize(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		c := s.hosted("sizes")
		c.expect("size 30x90 0x0.")
		c.resize(40, 100, 800, 640)
		c.expect("size 40x100 800x640.")
		for i := range uint16(30) {
			c.resize(20+i, 70+i, 0, 0)
		}
		c.expect("size 49x99 0x0.")
		if s.tmux {
			eventually(t, "the mirror's size", func() bool {
				picture, err := s.server(c.id).Capture()
				return err == nil && picture.Rows == 49
			})
		}
		c.typed("q")
		c.exit()
	})
}

func (c *screen) resize(rows, columns, x, y uint16) {
	c.t.Helper()
	if err := pty.Setsize(c.term, &pty.Winsize{Rows: rows, Cols: columns, X: x, Y: y}); err != nil {
		c.t.Fatal(err)
	}
}

func TestFidelity22ManyFastExits(t *testing.T) { // tmux#311, tmux#2679
	for _, args := range []string{"exit 0", "exit 7", "exit 130", "die 15", "die 9", "die 11"} {
		t.Run(args, func(t *testing.T) {
			eachHost(t, func(t *testing.T, s *stage) {
				native := s.native(strings.Fields(args)...)
				status := native.exit()
				for range few() {
					c := s.hosted(strings.Fields(args)...)
					if got := c.exit(); got != status || !bytes.Equal(c.output(), native.output()) {
						t.Fatalf("status %v, natively %v; wrote %q", got, status, c.output())
					}
				}
			})
		})
	}
}
