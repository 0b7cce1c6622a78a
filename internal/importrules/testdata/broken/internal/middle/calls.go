package middle

import (
	"os"
	_ "os/exec"
)

func leave() { os.Exit(1) }
