package hookadopt

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"agentwrap/internal/process"
)

// chain makes processes of command lines, nearest first, with pids from 100
// upward: 100 is the hook's parent.
func chain(lines ...string) []ancestor {
	var all []ancestor
	for i, line := range lines {
		all = append(all, ancestor{process.Stat{PID: 100 + i, StartTicks: uint64(1000 - i)}, strings.Fields(line), ""})
	}
	return all
}

func TestWhoseHookItIs(t *testing.T) {
	for _, tc := range []struct {
		name    string
		cli     string
		above   []string
		claimed int
		want    []int // pids, innermost first
		err     error
	}{
		{"the parent", "claude", []string{"/usr/bin/claude --resume x", "bash"}, 0, []int{100}, nil},
		{"behind a shell that did not exec", "claude", []string{"/bin/sh -c x", "claude", "bash"}, 101, []int{101}, nil},
		{"by its real path", "claude", []string{"/lib/claude-code/bin/claude.exe -p hi", "bash"}, 0, []int{100}, nil},
		{"a name of the user's own", "claude", []string{"cc -c", "bash"}, 100, []int{100}, nil},
		{"without that it is no one's", "claude", []string{"cc -c", "bash"}, 0, nil, errNoCaller},
		{"nested in a tool of another", "claude", []string{"claude -p hi", "bash -c x", "claude"}, 100, []int{100}, nil},
		{"nested, an old one that passes the outer pid on", "claude", []string{"claude -p hi", "bash -c x", "claude"}, 102, []int{100}, nil},
		{"a worker of claude's daemon", "claude", []string{"/x/claude.exe bg-spare", "/x/claude.exe bg-pty-host", "/x/claude.exe daemon run", "claude"}, 100, []int{100}, nil},
		{"which does not say so", "claude", []string{"/x/claude.exe bg-pty-host", "/x/claude.exe daemon run", "claude"}, 0, nil, errShared},
		{"two sessions with the same words are no wrapper and its program", "claude", []string{"claude", "bash", "claude"}, 100, []int{100}, nil},
		{"codex and its wrapper", "codex", []string{"/x/bin/codex exec hi", "node /usr/bin/codex exec hi", "bash"}, 0, []int{100, 101}, nil},
		{"codex under codex", "codex", []string{"/x/bin/codex exec hi", "/x/bin/codex", "node /usr/bin/codex"}, 0, []int{100}, nil},
		{"codex's daemon", "codex", []string{"/x/bin/codex app-server --listen unix://", "/x/bin/codex", "node /usr/bin/codex"}, 0, nil, errShared},
		{"gemini and its relaunch", "gemini", []string{"/usr/bin/node --max-old-space-size=12052 /usr/bin/gemini -p x", "node /usr/bin/gemini -p x", "timeout 9 gemini -p x"}, 0, []int{100, 101}, nil},
		{"cursor by its short name", "cursor", []string{"/bin/agent --resume", "bash"}, 0, nil, errNoCaller},
		{"cursor by its short name, from its own folder", "cursor", []string{"/home/u/.local/share/cursor-agent/versions/1/agent", "bash"}, 0, []int{100}, nil},
		{"cursor's editor", "cursor", []string{"/usr/share/cursor/cursor --type=utility", "/usr/share/cursor/cursor"}, 0, nil, errNoCaller},
		{"another CLI in between is no one of ours", "claude", []string{"node /usr/bin/gemini", "claude"}, 0, []int{101}, nil},
		{"nothing above", "claude", nil, 100, nil, errNoCaller},
		{"no arguments to be read", "claude", []string{"", ""}, 0, nil, errNoCaller},
	} {
		o, err := dialects[tc.cli].owner(slices.Values(chain(tc.above...)), tc.claimed)
		var got []int
		for _, st := range o.processes {
			got = append(got, st.PID)
		}
		if !slices.Equal(got, tc.want) || !errors.Is(err, tc.err) {
			t.Errorf("%s: %v, %v, want %v, %v", tc.name, got, err, tc.want, tc.err)
		}
	}
}

func TestCursorByAShortNameThatOthersHaveToo(t *testing.T) {
	for exe, want := range map[string]error{"/home/u/.local/share/cursor-agent/versions/1/node": nil, "/usr/bin/node": errNoCaller} {
		above := []ancestor{{process.Stat{PID: 100}, []string{"agent", "/x/index.js"}, exe}}
		if _, err := dialects["cursor"].owner(slices.Values(above), 0); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", exe, err, want)
		}
	}
}

// The processes that stood above the recorded calls.
func TestWhoseTheRecordedCallsAre(t *testing.T) {
	for cli, meanings := range sampleMeanings {
		for name := range meanings {
			s := readSample(t, cli, name)
			d := dialects[cli]
			claimed := 0
			if d.pidVar != "" {
				claimed = 100
			}
			o, err := d.owner(slices.Values(chain(s.ancestors...)), claimed)
			daemon := strings.Contains(s.ancestors[0], "app-server")
			lost := strings.Contains(s.ancestors[0], "<") && claimed == 0
			switch {
			case daemon != errors.Is(err, errShared):
				t.Errorf("%s %s: %v", cli, name, err)
			case !daemon && !lost && (err != nil || o.innermost().PID != 100):
				t.Errorf("%s %s: %+v, %v", cli, name, o, err)
			}
		}
	}
}
