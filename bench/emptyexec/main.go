// Emptyexec is what every shim is measured against: a Go program that does
// nothing but exec the program its arguments name.
package main

import (
	"os"
	"syscall"
)

func main() {
	if err := syscall.Exec(os.Args[1], os.Args[1:], os.Environ()); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(126)
	}
}
