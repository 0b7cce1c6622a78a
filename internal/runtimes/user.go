package runtimes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"agentwrap/internal/statefile"
)

// profileLimit bounds a user's profile, in bytes.
const profileLimit = 256 << 10

// Profiles tells what a runtime is to someone. The zero value has what is built
// in.
type Profiles func(runtime string) Profile

// For is the profile of a runtime.
func (p Profiles) For(runtime string) Profile {
	if p == nil {
		return For(runtime)
	}
	return p(runtime)
}

// Known are the profiles of one user: what is built in, and what the user's own
// files add or change (docs/runtimes.md, "Profiles of your own"). Each file is
// read when its runtime is first asked for. A nil *Known has what is built in
// alone. It is safe for concurrent use.
type Known struct {
	dir  string
	lock sync.Mutex
	read map[string]Profile
}

// KnownTo are the profiles of an environment's user.
func KnownTo(getenv func(string) string) *Known {
	home := getenv("HOME")
	if home == "" {
		return nil
	}
	return &Known{dir: filepath.Join(home, ".config", "agentwrap", "runtimes.d")}
}

// For is the profile of a runtime. A user's file that is not right changes
// nothing: Problems tells of it.
func (k *Known) For(name string) Profile {
	if k == nil {
		return For(name)
	}
	k.lock.Lock()
	defer k.lock.Unlock()
	p, ok := k.read[name]
	if !ok {
		p, _ = k.load(name)
		if k.read == nil {
			k.read = map[string]Profile{}
		}
		k.read[name] = p
	}
	return p
}

// load reads a user's file for a runtime. With a problem the profile is the
// built-in one.
func (k *Known) load(name string) (Profile, []error) {
	path := filepath.Join(k.dir, name+".json")
	raw, err := statefile.Read(path, profileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return For(name), nil
	}
	if err != nil {
		return For(name), []error{fmt.Errorf("the profile of %s is not used: %w", name, err)}
	}
	p, problems := parseProfile(name, raw)
	if len(problems) == 0 {
		return p, nil
	}
	for i, problem := range problems {
		problems[i] = fmt.Errorf("the profile %s is not used: %w", path, problem)
	}
	return For(name), problems
}

// Problems are what is wrong with the user's files, each with its path, line
// and field.
func (k *Known) Problems() []error {
	if k == nil {
		return nil
	}
	list, err := os.ReadDir(k.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []error{fmt.Errorf("read the profiles: %w", err)}
	}
	var problems []error
	for _, f := range list {
		name, isProfile := strings.CutSuffix(f.Name(), ".json")
		if !isProfile || name == "" {
			problems = append(problems, fmt.Errorf("%s is no profile: name it RUNTIME.json", filepath.Join(k.dir, f.Name())))
			continue
		}
		_, wrong := k.load(name)
		problems = append(problems, wrong...)
	}
	return problems
}
