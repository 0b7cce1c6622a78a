package reopen

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
	"agentwrap/internal/statefile"
)

func lostSession(t *testing.T) (*ledger.Store, string) {
	t.Helper()
	store := ledger.Open(filepath.Join(t.TempDir(), "root"))
	e := &ledger.Entry{Runtime: "claude", StartedAt: ledger.At(time.Now()), EnrolledBy: ledger.EnrolledByShim}
	if err := store.Create(e, statefile.Soon); err != nil {
		t.Fatal(err)
	}
	return store, e.LedgerID
}

// mulmoterminal#1669: one session resumed twenty times.
func TestOfManyAtOnceOneResumes(t *testing.T) {
	store, id := lostSession(t)
	self, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	parent, err := process.Of(1)
	if err != nil {
		t.Fatal(err)
	}
	const each = 10
	results := make(chan error, 2*each)
	for range each {
		go func() { results <- Claim(store, id, self) }()
		go func() { results <- Claim(store, id, parent) }()
	}
	refused := 0
	for range 2 * each {
		switch err := <-results; {
		case errors.Is(err, ErrTaken):
			refused++
		case err != nil:
			t.Error(err)
		}
	}
	if refused != each {
		t.Errorf("%d of %d were refused, want the %d of one of the two", refused, 2*each, each)
	}
}

func TestAClaimEndsWithItsProcessOrItsSession(t *testing.T) {
	store, id := lostSession(t)
	self, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	dead := self
	dead.StartTicks++
	if err := Claim(store, id, dead); err != nil {
		t.Fatal(err)
	}
	if err := Claim(store, id, self); err != nil {
		t.Errorf("after its process ended: %v", err)
	}
	if e, err := store.Read(id); err != nil || !Claimed(e) {
		t.Errorf("not claimed: %v", err)
	}
	if err := Unclaim(store, id, self); err != nil {
		t.Fatal(err)
	}
	if e, err := store.Read(id); err != nil || Claimed(e) || e.ResumeClaim != nil {
		t.Errorf("still claimed: %v", err)
	}
	err = store.Update(id, ledger.Within(time.Second), func(e *ledger.Entry) error { e.ResumedBy = ledger.Ptr("claude-2"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := Claim(store, id, self); !errors.Is(err, ErrTaken) {
		t.Errorf("after it was resumed: %v", err)
	}
}

func TestAStartGoesOnInTheSessionsPlace(t *testing.T) {
	dir := t.TempDir()
	asking := []string{"HOME=" + dir, "SHELL=/bin/sh", "PATH=/usr/bin:/bin", "AGENT_LEDGER_ID=claude-9", "OPENAGENTS_SCRATCH=/other", "CLAUDE_CONFIG_DIR=/asking", "CODEX_THREAD_ID=x"}
	s, err := StartIn(context.Background(), "/shims", "claude", []string{"--resume", "id"}, asking, dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.Path != "/shims/claude" || !slices.Equal(s.Argv, []string{"claude", "--resume", "id"}) || s.Dir != dir {
		t.Errorf("%+v", s)
	}
	e := &ledger.Entry{LedgerID: "claude-1", Scratch: ledger.Ptr("/own"), ConfigHome: ledger.Ptr("/accounts/work"), Program: ledger.Ptr("/opt/node/bin/claude")}
	got := s.Continue(e, runtimes.For("claude")).Detached()
	for name, want := range map[string]string{"AGENTWRAP_RESUMED_FROM": "claude-1", "OPENAGENTS_SCRATCH": "/own", "CLAUDE_CONFIG_DIR": "/accounts/work",
		"AGENTWRAP_HOST": "detached", "AGENT_LEDGER_ID": "", "CODEX_THREAD_ID": ""} {
		if v := valueOf(got.Env, name); v != want {
			t.Errorf("%s is %q, want %q", name, v, want)
		}
	}
	if path := valueOf(got.Env, "PATH"); !strings.HasSuffix(path, ":/opt/node/bin") {
		t.Errorf("PATH is %q", path)
	}
	// A conversation of the default account is not looked for in another's folder.
	e.ConfigHome = nil
	if v := valueOf(s.Continue(e, runtimes.For("claude")).Env, "CLAUDE_CONFIG_DIR"); v != "" {
		t.Errorf("CLAUDE_CONFIG_DIR is %q", v)
	}
}
