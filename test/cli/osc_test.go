package cli

import "testing"

func TestOSCFilter(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"text is kept", "a✳b", "a✳b"},
		{"title ended by BEL", "\x1b]0;✳ Claude\a✳", "\x1b]0;??? Claude\a✳"},
		{"title ended by ST", "\x1b]0;✳\x1b\\✳", "\x1b]0;???\x1b\\✳"},
		{"title cancelled", "\x1b]0;✳\x18✳", "\x1b]0;???\x18✳"},
		{"a string after a string that was never ended", "\x1b]0;✳\x1b]2;✳\a✳", "\x1b]0;???\x1b]2;???\a✳"},
		{"other sequences", "\x1b[1m✳\x1b(B✳", "\x1b[1m✳\x1b(B✳"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for cut := range len(tt.in) {
				var f oscFilter
				head, tail := []byte(tt.in[:cut]), []byte(tt.in[cut:])
				f.filter(head)
				f.filter(tail)
				if got := string(head) + string(tail); got != tt.want {
					t.Errorf("cut at %d: got %q, want %q", cut, got, tt.want)
				}
			}
		})
	}
}
