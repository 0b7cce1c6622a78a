package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// Why a folder has no working tree that can be looked at.
var (
	ErrNoDir         = errors.New("the folder is gone")
	ErrNotRepository = errors.New("not in a git repository")
	ErrNoTree        = errors.New("in a git repository without a working tree")
	ErrForeign       = errors.New("the repository belongs to another user and is not listed in safe.directory")
)

// Repository is a working tree with its repository, as git itself names them.
type Repository struct {
	// Top is the top folder of the working tree.
	Top string
	// GitDir is the working tree's own git folder, CommonDir the one that all
	// worktrees of the repository share.
	GitDir, CommonDir string
	// Format is the object format, sha1 or sha256.
	Format string

	runner   *Runner
	settings map[string]string
	filters  []string
}

// Open looks at the working tree that dir is in. The error is one of those
// above, [ErrAbsent] or an [*Error].
func (r *Runner) Open(ctx context.Context, dir string) (*Repository, error) {
	if info, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoDir)
	} else if err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoDir)
	}
	repo := &Repository{runner: r}
	together, shared := errgroup.WithContext(ctx)
	together.Go(func() error { return repo.locate(shared, dir) })
	together.Go(func() error { return repo.readSettings(shared, dir) })
	together.Go(func() error { _, err := r.Version(shared); return err })
	if err := together.Wait(); err != nil {
		return nil, err
	}
	if err := repo.owned(ctx); err != nil {
		return nil, err
	}
	return repo, nil
}

// locate asks git for the folders. What git prints before it fails tells a
// bare repository from none.
func (repo *Repository) locate(ctx context.Context, dir string) error {
	facts := []string{"--show-object-format", "--absolute-git-dir", "--git-common-dir", "--show-toplevel"}
	out, err := repo.runner.Run(ctx, Command{Dir: dir, Args: append([]string{"rev-parse"}, facts...)})
	if err != nil {
		return noTree(dir, out, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(facts) { // a folder's name holds a newline: one at a time
		lines = lines[:0]
		for _, fact := range facts {
			out, err := repo.runner.Run(ctx, Command{Dir: dir, Args: []string{"rev-parse", fact}})
			if err != nil {
				return err
			}
			lines = append(lines, strings.TrimSuffix(string(out), "\n"))
		}
	}
	repo.Format, repo.GitDir, repo.CommonDir, repo.Top = lines[0], lines[1], lines[2], lines[3]
	if !filepath.IsAbs(repo.CommonDir) {
		repo.CommonDir = filepath.Join(dir, repo.CommonDir)
	}
	return nil
}

func noTree(dir string, out []byte, err error) error {
	var failed *Error
	switch {
	case !errors.As(err, &failed) || failed.Cause != nil:
		return err
	case strings.Contains(failed.Message, "dubious ownership"), strings.Contains(failed.Message, "unsafe repository"):
		return fmt.Errorf("%s: %w", dir, ErrForeign)
	case strings.Contains(failed.Message, "must be run in a work tree"):
		return fmt.Errorf("%s: %w", dir, ErrNoTree)
	case strings.Contains(failed.Message, "not a git repository"):
		return fmt.Errorf("%s: %w", dir, ErrNotRepository)
	}
	return err
}

// owned does for git before 2.35.2 what newer ones do themselves.
func (repo *Repository) owned(ctx context.Context) error {
	v, err := repo.runner.Version(ctx)
	if err != nil || v.AtLeast(2, 36) {
		return err
	}
	var st syscall.Stat_t
	if err := syscall.Stat(repo.GitDir, &st); err != nil {
		return err
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: %w", repo.Top, ErrForeign)
	}
	return nil
}

// asked are the settings that change what is on disk, or how it is compared.
const asked = `^(filter\..*\.(clean|smudge|process|required)|core\.(autocrlf|filemode|sparsecheckout|sharedrepository))$`

func (repo *Repository) readSettings(ctx context.Context, dir string) error {
	out, err := repo.runner.Run(ctx, Command{Dir: dir, Args: []string{"config", "-z", "--get-regexp", asked}})
	var failed *Error
	if errors.As(err, &failed) && failed.Code == 1 { // none is set
		err = nil
	}
	if err != nil {
		return err
	}
	repo.settings = map[string]string{}
	drivers := map[string]bool{}
	for _, record := range bytes.Split(out, []byte{0}) {
		key, value, valued := strings.Cut(string(record), "\n")
		if !valued {
			value = "true"
		}
		rest, isFilter := strings.CutPrefix(key, "filter.")
		if !isFilter {
			repo.settings[key] = value
			continue
		}
		driver := rest[:strings.LastIndexByte(rest, '.')]
		if strings.Contains(driver, "=") {
			return fmt.Errorf("%s: the filter %q in git's configuration cannot be switched off, rename it", dir, driver)
		}
		if !drivers[driver] {
			drivers[driver] = true
			repo.filters = append(repo.filters, off(driver)...)
		}
	}
	return nil
}

// off is the configuration that switches one filter driver off.
func off(driver string) []string {
	return []string{
		"filter." + driver + ".clean=", "filter." + driver + ".smudge=",
		"filter." + driver + ".process=", "filter." + driver + ".required=false",
	}
}

// Setting gives one of the core settings that are asked for, in lower case as
// git prints its name, "" where unset.
func (repo *Repository) Setting(name string) string { return repo.settings[name] }

// Run is [Runner.Run] in the top folder, unless c names another, with every
// filter switched off.
func (repo *Repository) Run(ctx context.Context, c Command) ([]byte, error) {
	return repo.runner.Run(ctx, repo.guarded(c))
}

// Start is [Runner.Start], as Run is [Runner.Run].
func (repo *Repository) Start(ctx context.Context, c Command) (*Process, error) {
	return repo.runner.Start(ctx, repo.guarded(c))
}

// Version is [Runner.Version].
func (repo *Repository) Version(ctx context.Context) (Version, error) {
	return repo.runner.Version(ctx)
}

// Durable is [Runner.Durable].
func (repo *Repository) Durable(ctx context.Context) ([]string, error) {
	return repo.runner.Durable(ctx)
}

func (repo *Repository) guarded(c Command) Command {
	if c.Dir == "" {
		c.Dir = repo.Top
	}
	c.Config = append(c.Config[:len(c.Config):len(c.Config)], repo.filters...)
	return c
}

// Main gives the main checkout of the repository, "" where it has none.
func (repo *Repository) Main() string {
	switch {
	case repo.GitDir == repo.CommonDir:
		return repo.Top
	case filepath.Base(repo.CommonDir) == ".git":
		return filepath.Dir(repo.CommonDir)
	}
	return ""
}

// Linked says whether this is a linked worktree.
func (repo *Repository) Linked() bool { return repo.GitDir != repo.CommonDir }
