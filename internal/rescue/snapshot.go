package rescue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"agentwrap/internal/git"
	"agentwrap/internal/ledger"
)

// Snapshot saves the uncommitted work in the session's working tree under a ref
// of its own (docs/rescue.md, "The snapshot"). It is safe to repeat and to run
// twice at once: the first that gets to the end makes the ref, and whoever comes
// later returns the same result with Known set. On an error there is no ref, and
// the row is to be kept for another try; [git.ErrForeign] is one too.
func Snapshot(ctx context.Context, runner *git.Runner, req Request) (Result, error) {
	if !ledger.ValidID(req.LedgerID) {
		return Result{}, fmt.Errorf("rescue: %q is no session id", req.LedgerID)
	}
	repo, dir, err := open(ctx, runner, req)
	switch {
	case errors.Is(err, git.ErrNoDir):
		return Result{Outcome: Gone, Why: err.Error()}, nil
	case errors.Is(err, git.ErrNotRepository), errors.Is(err, git.ErrNoTree):
		return Result{Outcome: NoTree, Why: err.Error()}, nil
	case err != nil:
		return Result{}, fmt.Errorf("rescue of %s: %w", req.LedgerID, err)
	}
	req.CWD = dir
	j := &job{req: req.defaulted(), repo: repo, hold: map[string]bool{}}
	result, err := j.run(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("rescue of %s: %w", req.LedgerID, err)
	}
	return result, nil
}

// open opens the session's working tree, by its top where its folder is gone.
func open(ctx context.Context, runner *git.Runner, req Request) (*git.Repository, string, error) {
	repo, err := runner.Open(ctx, req.CWD)
	if errors.Is(err, git.ErrNoDir) && req.Root != "" && req.Root != req.CWD {
		if byRoot, rerr := runner.Open(ctx, req.Root); rerr == nil && byRoot.Top == req.Root {
			return byRoot, req.Root, nil
		}
	}
	return repo, req.CWD, err
}

func (req Request) defaulted() Request {
	if req.Limits.File == 0 {
		req.Limits.File = DefaultFileLimit
	}
	if req.Limits.Total == 0 {
		req.Limits.Total = DefaultTotalLimit
	}
	return req
}

// job is one snapshot in the making.
type job struct {
	req  Request
	repo *git.Repository
	// hold are files that are kept in memory, because they changed between being
	// read and being stored.
	hold map[string]bool
	// left is how many bytes may still be saved.
	left int64
	*helpers
	// nested are the repositories inside that have been saved.
	nested []Nested
}

// movingTries is how many files may change under the snapshot before it is
// given up until the next sweep.
const movingTries = 10

// settleTries is how often a snapshot begins anew because a file changed after
// it was read and before anything was stored. After that what was read is taken:
// each file whole, not all of the same instant.
const settleTries = 2

func (j *job) run(ctx context.Context) (Result, error) {
	var err error
	for range movingTries {
		var result Result
		var moving *movingError
		if result, err = j.try(ctx); !errors.As(err, &moving) {
			return result, err
		}
		j.hold[moving.path] = true
	}
	return Result{}, err
}

// try takes the snapshot once.
func (j *job) try(ctx context.Context) (Result, error) {
	j.left, j.nested = j.req.Limits.Total, nil
	j.helpers = &helpers{ctx: ctx, repo: j.repo}
	defer j.helpers.close()
	var refs []known
	var s survey
	var branch string
	together, shared := errgroup.WithContext(ctx)
	together.Go(func() (err error) { refs, err = readRefs(shared, j.repo); return err })
	together.Go(func() (err error) { s, branch, err = j.survey(shared, j.repo); return err })
	if err := together.Wait(); err != nil {
		return Result{}, err
	}
	if k, ok := find(refs, j.req.ref()); ok {
		return j.adopt(ctx, k)
	}
	if err := j.saveNested(ctx, j.repo, &s, "", 0); err != nil {
		return Result{}, err
	}
	result := Result{
		Outcome: Clean, Skipped: s.skipped, Raw: s.raw, Nested: j.nested,
		Repository: j.repo.CommonDir, Main: j.repo.Main(),
	}
	if len(s.items) == 0 && len(j.nested) == 0 {
		return result, nil
	}
	return j.keep(ctx, s, refs, result, branch)
}

// keep makes the commit, or finds the one that holds the same already, and the ref.
func (j *job) keep(ctx context.Context, s survey, refs []known, result Result, branch string) (Result, error) {
	result.Outcome, result.Ref = Saved, j.req.ref()
	if err := j.ready(); err != nil {
		return Result{}, err
	}
	commit, paths, err := j.same(s, refs)
	if err == nil && commit == "" {
		message := describe(j.req, result, branch, j.repo.Linked())
		commit, paths, err = j.store(ctx, s, message)
	}
	if err != nil {
		return Result{}, err
	}
	if len(paths) == 0 && len(j.nested) == 0 { // no more than HEAD has after all
		return Result{Outcome: Clean, Skipped: result.Skipped, Repository: result.Repository, Main: result.Main}, nil
	}
	result.Commit, result.Paths = commit, paths
	if err := j.create(ctx, result.Ref, commit); errors.Is(err, errExists) {
		return j.adoptNew(ctx)
	} else if err != nil {
		return Result{}, err
	}
	return result, nil
}

func (j *job) store(ctx context.Context, s survey, message string) (string, []string, error) {
	oid, err := j.importer.write(commit{parent: s.head, message: message, when: j.req.Now.Unix(), items: s.items})
	if err != nil {
		return "", nil, err
	}
	paths, err := verify(ctx, j.repo, j.differ, s.items, oid)
	return oid, paths, err
}

// same finds the newest snapshot on the same commit and gives it where it holds
// exactly what is to be saved.
func (j *job) same(s survey, refs []known) (string, []string, error) {
	if len(j.nested) > 0 {
		return "", nil, nil
	}
	for _, k := range refs {
		if k.parent != s.head {
			continue
		}
		found, paths, err := j.differ.changes(k.commit)
		if err != nil || !maps.Equal(found, planned(s.items)) {
			return "", nil, err
		}
		return k.commit, paths, nil
	}
	return "", nil, nil
}

// adopt gives the result of an earlier try whose ref is there.
func (j *job) adopt(ctx context.Context, k known) (Result, error) {
	told, err := readTold(ctx, j.repo, k.commit)
	if err != nil {
		return Result{}, err
	}
	d, err := startDiffer(ctx, j.repo, j.repo.Top)
	if err != nil {
		return Result{}, err
	}
	defer d.close()
	_, paths, err := d.changes(k.commit)
	if err != nil {
		return Result{}, err
	}
	return Result{
		Outcome: Saved, Known: true, Ref: k.ref, Commit: k.commit, Paths: paths,
		Skipped: told.Skipped, Raw: told.Raw, Nested: told.Nested,
		Repository: j.repo.CommonDir, Main: j.repo.Main(),
	}, nil
}

// adoptNew is adopt for a ref that someone else made meanwhile.
func (j *job) adoptNew(ctx context.Context) (Result, error) {
	refs, err := readRefs(ctx, j.repo)
	if err != nil {
		return Result{}, err
	}
	k, ok := find(refs, j.req.ref())
	if !ok {
		return Result{}, fmt.Errorf("the ref %s came and went", j.req.ref())
	}
	return j.adopt(ctx, k)
}

func readTold(ctx context.Context, repo *git.Repository, commit string) (Told, error) {
	out, err := repo.Run(ctx, git.Command{Args: []string{"cat-file", "commit", commit}})
	if err != nil {
		return Told{}, err
	}
	_, message, _ := strings.Cut(string(out), "\n\n")
	return readMessage(message), nil
}

// survey finds out what is to be saved of one repository, and the branch.
func (j *job) survey(ctx context.Context, repo *git.Repository) (survey, string, error) {
	st, warnings, err := readStatus(ctx, repo)
	if err != nil {
		return survey{}, "", err
	}
	links, err := repo.Gitlinks(ctx)
	if err != nil {
		return survey{}, "", err
	}
	if repo == j.repo && len(st.changes) > 0 {
		j.begin()
	}
	root, err := os.OpenRoot(repo.Top)
	if err != nil {
		return survey{}, "", err
	}
	defer root.Close()
	s := survey{head: st.head}
	s.unreadable(warnings)
	s.look(root, st.changes, repo.Setting("core.filemode") != "false")
	s.lookLinks(links)
	s.lookContext(root)
	s.cap(j.req.Limits.File, j.left)
	s.read(root, repo.Format, j.hold)
	if err := s.convert(ctx, repo); err != nil {
		return survey{}, "", err
	}
	s.dropUnchanged()
	for _, i := range s.items {
		j.left -= i.size()
	}
	if len(j.hold) < settleTries {
		err = s.settled(root)
	}
	return s, st.branch, err
}

// readStatus asks git what differs, and gives its warnings too.
func readStatus(ctx context.Context, repo *git.Repository) (status, string, error) {
	var warned bytes.Buffer
	out, err := repo.Run(ctx, git.Command{Args: append(statusArgs, git.IgnoreNested), Stderr: &warned})
	if err != nil {
		return status{}, "", err
	}
	st, err := parseStatus(out)
	if err != nil || repo.Setting("core.sparsecheckout") != "true" {
		return st, warned.String(), err
	}
	if out, err = repo.Run(ctx, git.Command{Args: hiddenArgs}); err != nil {
		return status{}, "", err
	}
	listed := map[string]bool{}
	for _, c := range st.changes {
		listed[c.path] = true
	}
	for _, c := range parseHidden(out) {
		if _, err := os.Lstat(filepath.Join(repo.Top, c.path)); err == nil && !listed[c.path] {
			st.changes = append(st.changes, c)
		}
	}
	return st, warned.String(), nil
}
