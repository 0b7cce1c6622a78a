package statefile

// fault, when a test has set it, is asked before each step that touches the
// disk; an error that it returns takes the step's place.
var fault func(op, path string) error

// Inject makes ask decide the fate of every open, write, fsync, rename, mkdir,
// lock and unlink that this package does, until the returned function is
// called. For tests alone, from one goroutine, before the work under test.
func Inject(ask func(op, path string) error) (restore func()) {
	before := fault
	fault = ask
	return func() { fault = before }
}

func failing(op, path string) error {
	if fault == nil {
		return nil
	}
	return fault(op, path)
}
