//go:build real

package real

import (
	"os"
	"testing"

	"agentwrap/test/cli"
)

func TestMain(m *testing.M) { os.Exit(cli.Main(m)) }
