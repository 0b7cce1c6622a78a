package launch

// wantsHost tells a launch that is to outlive its terminal: a person's, on a
// terminal, that is not already inside one of our hosts.
func (l *launch) wantsHost() bool { return false }

func (l *launch) hosted() (code int, started bool) { return 0, false }
