package rescue

import (
	"context"

	"golang.org/x/sync/errgroup"

	"agentwrap/internal/git"
)

// helpers are the gits that store a snapshot. They are started once git status
// has found something, while the files are read, so that none is waited for.
type helpers struct {
	ctx  context.Context
	repo *git.Repository

	starting errgroup.Group
	begun    bool
	importer *importer
	differ   *differ
	creator  *creator
}

// begin starts them in the background.
func (h *helpers) begin() {
	h.begun = true
	h.starting.Go(func() (err error) { h.importer, err = startImporter(h.ctx, h.repo); return err })
	h.starting.Go(func() (err error) { h.differ, err = startDiffer(h.ctx, h.repo, h.repo.Top); return err })
	h.starting.Go(func() (err error) { h.creator, err = startCreator(h.ctx, h.repo); return err })
}

// ready waits until they are there, and says why one is not.
func (h *helpers) ready() error {
	if !h.begun {
		h.begin()
	}
	return h.starting.Wait()
}

func (h *helpers) close() {
	_ = h.starting.Wait() // told by ready, if it was asked
	if h.importer != nil {
		h.importer.close()
	}
	if h.differ != nil {
		h.differ.close()
	}
	if h.creator != nil {
		h.creator.close()
	}
}
