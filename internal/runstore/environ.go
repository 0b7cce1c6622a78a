package runstore

import (
	"slices"
	"strings"
)

// Environ is an environment with what is kept for a session's next opening: its
// folders before PATH, its variables, of which the last of a name counts, and the
// CLI's own folder in the variable that moves it ("" where none does).
func (m SessionMeta) Environ(env []string, configHomeVar string) []string {
	env = slices.Clone(env)
	if len(m.PrependPaths) > 0 {
		path := strings.Join(m.PrependPaths, ":")
		if old := lookup(env, "PATH"); old != "" {
			path += ":" + old
		}
		env = set(env, "PATH", path)
	}
	for _, v := range m.Env {
		if name, value, ok := strings.Cut(v, "="); ok && name != "" {
			env = set(env, name, value)
		}
	}
	if m.AgentRunnerConfigHome != "" && configHomeVar != "" {
		env = set(env, configHomeVar, m.AgentRunnerConfigHome)
	}
	return env
}

// KeepsEnviron tells whether anything is kept for the next opening.
func (m SessionMeta) KeepsEnviron() bool {
	return len(m.PrependPaths) > 0 || len(m.Env) > 0 || m.AgentRunnerConfigHome != ""
}

func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// set leaves one variable of a name: of two, programs do not agree which counts.
func set(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	return append(env, name+"="+value)
}
