package reopen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// environWait bounds what a person's shell start-up files may take.
const environWait = 5 * time.Second

// environLimit bounds an environment, in bytes.
const environLimit = 4 << 20

// terminalVars are what the asking terminal knows better than a login shell
// does, by name or, ending in *, by prefix.
var terminalVars = []string{"TERM", "COLORTERM", "TERM_*", "LC_*", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_*", "DBUS_SESSION_BUS_ADDRESS",
	"SSH_*", "TMUX", "TMUX_*", "STY", "KITTY_*", "WEZTERM_*", "ALACRITTY_*", "GHOSTTY_*", "VTE_VERSION", "COLUMNS", "LINES", "GPG_TTY", "AGENTWRAP_*", "AGENT_*", "OPENAGENTS_*"}

// Environ is the environment a session gets in a folder: a login shell's there,
// with what direnv or mise add where they rule, under the asking terminal's
// own. The error tells what part is missing; the environment is usable all the
// same.
func Environ(ctx context.Context, asking []string, dir string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, environWait)
	defer cancel()
	env, err := loginEnviron(ctx, asking, dir)
	if err != nil {
		env = asking
	}
	// What only an interactive shell puts on PATH is behind what rules there.
	env = withPath(overlay(env, asking), filepath.SplitList(valueOf(asking, "PATH"))...)
	for _, tool := range folderTools {
		path := lookIn(env, tool.name)
		if path == "" || !tool.rules(dir) {
			continue
		}
		ruled, terr := printedEnviron(ctx, env, dir, path, tool.args(dir)...)
		if terr != nil {
			err = errors.Join(err, fmt.Errorf("%s gave nothing for %s: %w", tool.name, dir, terr))
			continue
		}
		env = overlay(ruled, asking)
	}
	return env, err
}

// sayEnviron prints the environment where no start-up file's words can get in.
const sayEnviron = "exec env -0 >&3"

func loginEnviron(ctx context.Context, asking []string, dir string) ([]string, error) {
	shell := valueOf(asking, "SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	env, err := printedEnviron(ctx, asking, dir, shell, "-l", "-c", sayEnviron)
	if err != nil {
		return nil, fmt.Errorf("the login shell %s gave no environment: %w", shell, err)
	}
	return env, nil
}

// folderTool is a program that gives a folder an environment of its own.
type folderTool struct {
	name  string
	files []string
	args  func(dir string) []string
}

var folderTools = []folderTool{
	{"direnv", []string{".envrc", ".env"}, func(dir string) []string { return []string{"exec", dir, "sh", "-c", sayEnviron} }},
	{"mise", []string{"mise.toml", ".mise.toml", ".tool-versions", ".config/mise.toml", "mise/config.toml"}, func(dir string) []string {
		return []string{"exec", "-C", dir, "--", "sh", "-c", sayEnviron}
	}},
}

// rules tells whether one of the tool's files stands in dir or above it.
func (t folderTool) rules(dir string) bool {
	for {
		if slices.ContainsFunc(t.files, func(name string) bool {
			_, err := os.Lstat(filepath.Join(dir, name))
			return err == nil
		}) {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// printedEnviron runs a program that writes its environment, each item ended by
// a NUL byte, to descriptor 3. Its other output goes nowhere.
func printedEnviron(ctx context.Context, env []string, dir, path string, args ...string) ([]string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = dir, env, []*os.File{w}
	cmd.WaitDelay = time.Second
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, err
	}
	// Whatever a start-up file left running holds the pipe too: the end of the
	// program is the end of the reading.
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		_ = r.SetReadDeadline(time.Now().Add(time.Second))
	}()
	raw, rerr := io.ReadAll(io.LimitReader(r, environLimit))
	if err := <-ended; err != nil {
		return nil, err
	}
	if rerr != nil && !errors.Is(rerr, os.ErrDeadlineExceeded) {
		return nil, rerr
	}
	list := strings.Split(string(bytes.TrimSuffix(raw, []byte{0})), "\x00")
	if len(list) == 1 && list[0] == "" {
		return nil, errors.New("it printed none")
	}
	return list, nil
}

// overlay puts the asking terminal's own variables over an environment; one
// that the terminal does not have is taken out.
func overlay(env, asking []string) []string {
	own := func(item string) bool {
		name, _, _ := strings.Cut(item, "=")
		return slices.ContainsFunc(terminalVars, func(v string) bool {
			prefix, isPrefix := strings.CutSuffix(v, "*")
			return name == v || isPrefix && strings.HasPrefix(name, prefix)
		})
	}
	out := slices.DeleteFunc(slices.Clone(env), own)
	for _, item := range asking {
		if own(item) {
			out = append(out, item)
		}
	}
	return out
}

// withPath puts folders at the end of an environment's PATH, where they are not
// on it already.
func withPath(env []string, dirs ...string) []string {
	list := filepath.SplitList(valueOf(env, "PATH"))
	for _, dir := range dirs {
		if dir != "" && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	env = without(env, []string{"PATH"})
	return append(env, "PATH="+strings.Join(list, string(filepath.ListSeparator)))
}

func valueOf(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// lookIn finds a program on an environment's own PATH.
func lookIn(env []string, name string) string {
	for _, dir := range filepath.SplitList(valueOf(env, "PATH")) {
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && filepath.IsAbs(path) && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
