package host

import (
	"fmt"
	"os"
	"strconv"
	"syscall"

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
	"echo": echo,
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
