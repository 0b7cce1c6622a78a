package host

// mirror is the pane that gets a copy.
type mirror struct{}

func (m *mirror) descriptor() int { return -1 }
func (m *mirror) interest() int16 { return 0 }
func (m *mirror) ready(int16)     {}
func (m *mirror) behind() bool    { return false }
func (m *mirror) write([]byte)    {}
func (m *mirror) resize(Size)     {}
