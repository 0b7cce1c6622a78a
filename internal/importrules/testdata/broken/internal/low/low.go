package low

import "os"

func leave() { os.Exit(1) }
