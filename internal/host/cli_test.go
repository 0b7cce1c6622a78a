package host

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// cliMain is the CLI of the tests: its first argument says what it does.
func cliMain(args []string) int {
	scenario, found := scenarios[args[0]]
	if !found {
		fmt.Println("no scenario", args[0])
		return 3
	}
	return scenario(args[1:])
}

var scenarios = map[string]func(args []string) int{
	"exit": func(args []string) int {
		fmt.Println("the last line")
		code, _ := strconv.Atoi(args[0])
		return code
	},
	"die": func(args []string) int {
		fmt.Println("the last line")
		n, _ := strconv.Atoi(args[0])
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
		die(Outcome{Signal: syscall.Signal(n)})
		return 1
	},
	"echo":       echo,
	"dialog":     dialog,
	"numbers":    numbers,
	"count":      count,
	"pour":       pour,
	"drink":      drink,
	"sizes":      sizes,
	"modes":      func([]string) int { return modes() },
	"focus":      func([]string) int { fmt.Print("\x1b[?1004h"); return echo(nil) },
	"asker":      func([]string) int { return asker() },
	"asks alone": func([]string) int { return asksAlone() },
	"signals":    func([]string) int { return tellSignals() },
	"lines":      func([]string) int { return lines() },
	"patient":    func([]string) int { return patient() },
	"stty":       func([]string) int { return stty() },
}

// echo reads raw input and writes what it got, quoted, one read a line; q ends it.
func echo([]string) int {
	if _, err := term.MakeRaw(0); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Print("ready\r\n")
	buf := make([]byte, 4096)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil || string(buf[:n]) == "q" {
			fmt.Print("bye\r\n")
			return 0
		}
		fmt.Printf("<%q>\r\n", buf[:n])
	}
}

// lines reads lines as the terminal edits them, and tells when it is continued.
func lines() int {
	tellContinued()
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println("got", in.Text())
	}
	fmt.Println("end of input")
	return 0
}

// patient is lines that reads only when there is something to read and it is in the foreground.
func patient() int {
	tellContinued()
	fmt.Println("ready")
	buf := make([]byte, 100)
	for {
		await(0, unix.POLLIN)
		for !(&terminal{in: 0}).foreground() {
			time.Sleep(10 * time.Millisecond)
		}
		n, err := readSome(0, buf)
		if err != nil {
			return 0
		}
		fmt.Println("got", string(buf[:n]))
	}
}

// tellContinued tells of every SIGCONT. SIGTERM and SIGQUIT end the program at once, on whatever thread: Go's own
// handlers leave time for others to run on, into a read that stops the process.
func tellContinued() {
	for _, sig := range []uintptr{uintptr(unix.SIGTERM), uintptr(unix.SIGQUIT)} {
		var byDefault [4]uint64 // the kernel's sigaction: SIG_DFL
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGCONT)
	go func() {
		for range signals {
			fmt.Println("continued")
		}
	}()
}

// stty tells some settings of its terminal and changes one.
func stty() int {
	modes, err := unix.IoctlGetTermios(0, unix.TCGETS)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	set := func(flags, flag uint32) int { return int(min(1, flags&flag)) }
	fmt.Printf("susp %d erase %d ixon %d tostop %d\n", modes.Cc[unix.VSUSP], modes.Cc[unix.VERASE], set(modes.Iflag, unix.IXON), set(modes.Lflag, unix.TOSTOP))
	modes.Cc[unix.VKILL] = 'P' - '@'
	if err := unix.IoctlSetTermios(0, unix.TCSETS, modes); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// modes sets what a full-screen program sets, and waits.
func modes() int {
	_, _ = term.MakeRaw(0)
	fmt.Print("\x1b[?25l\x1b[?1004h\x1b[>5u\x1b[?2004h\x1b]2;title\x07ready\r\n")
	time.Sleep(3 * resetPause)
	fmt.Print("settled\r\n")
	var key [1]byte
	for {
		if _, err := readSome(0, key[:]); err != nil || key[0] == 'q' {
			return 0
		}
	}
}

// asker is echo that asks its terminal at its start, and when ? is typed.
func asker() int {
	_, _ = term.MakeRaw(0)
	fmt.Print("ready\r\n\x1b[6n")
	buf := make([]byte, 4096)
	for {
		n, err := readSome(0, buf)
		if err != nil || string(buf[:n]) == "q" {
			return 0
		}
		if string(buf[:n]) == "?" {
			fmt.Print("asked:\x1b[6n.")
			continue
		}
		fmt.Printf("<%q>\r\n", buf[:n])
	}
}

// asksAlone asks what a program asks that then waits for its terminal, which may be none.
func asksAlone() int {
	_, _ = term.MakeRaw(0)
	ws, _ := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
	fmt.Printf("size %dx%d; ", ws.Row, ws.Col)
	buf := make([]byte, 4096)
	for query, final := range map[string]string{"\x1b[c": "c", "\x1b[>c": "c", "\x1b[5n": "n", "\x1b[6n": "R", "\x1b[18t": "t"} {
		fmt.Print(query)
		for reply := ""; !strings.HasSuffix(reply, final); {
			n, err := readSome(0, buf)
			if err != nil {
				return 1
			}
			reply += string(buf[:n])
		}
	}
	fmt.Print("all answered\r\n")
	_, _ = readSome(0, buf)
	return 0
}

func tellSignals() int {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	signal.Reset(unix.SIGTERM)
	fmt.Println("ready")
	for sig := range signals {
		if sig != unix.SIGURG && sig != unix.SIGWINCH {
			fmt.Printf("signal %d.\n", sig)
		}
	}
	return 0
}
