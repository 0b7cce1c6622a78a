package scripts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/test/isolate"
)

// How much comes at once.
const (
	stormLaunches = 200
	stormSweeps   = 20
	// stormAtOnce is how many launches are under way at one moment.
	stormAtOnce = 24
)

// TestStorm: launches through the shim and past it, with their hooks, under
// sweeps, while whatever runs is killed at random. What a CLI was told to be
// recorded is recorded, nothing is there twice, no file is torn.
func TestStorm(t *testing.T) {
	if os.Getenv(builtVar) == "" {
		t.Setenv(builtVar, build(t))
	}
	isolate.Test(t, func(t *testing.T) { newStorm(t).run() })
}

type storm struct {
	*testing.T
	dir  string
	env  []string
	shim string // the shim's claude
	real string // the CLI itself
}

func newStorm(t *testing.T) *storm {
	t.Helper()
	built, standins := os.Getenv(builtVar), strings.SplitN(os.Getenv("PATH"), ":", 2)[0]
	s := &storm{T: t, dir: t.TempDir(), real: filepath.Join(standins, "claude")}
	shims, home := filepath.Join(s.dir, "shims"), filepath.Join(s.dir, "home")
	s.shim = filepath.Join(shims, "claude")
	settings := map[string]any{"hooks": map[string]any{}}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"} {
		command := map[string]any{"type": "command", "command": filepath.Join(built, "agent-sessions"), "args": []string{"hook", "claude"}}
		settings["hooks"].(map[string]any)[event] = []any{map[string]any{"hooks": []any{command}}}
	}
	raw, err := json.Marshal(settings)
	err = errors.Join(err, os.MkdirAll(filepath.Join(home, ".claude"), 0o700), os.MkdirAll(shims, 0o700), os.Mkdir(s.acks(), 0o700))
	if err = errors.Join(err, os.WriteFile(filepath.Join(home, ".claude", "settings.json"), raw, 0o600), os.Symlink(filepath.Join(built, "agentwrap"), s.shim)); err != nil {
		t.Fatal(err)
	}
	s.env = []string{
		"HOME=" + home, "PATH=" + strings.Join([]string{shims, built, standins, "/usr/bin", "/bin"}, ":"), "AGENT_SESSIONS_DIR=" + filepath.Join(s.dir, "ledger"),
		"AGENTWRAP_SHIM_DIR=" + shims, "ACKS=" + s.acks(), "AGENT_SESSIONS_NO_SWEEP=1",
	}
	return s
}

func (s *storm) acks() string { return filepath.Join(s.dir, "acks") }

func (s *storm) run() {
	ctx, stop := context.WithCancel(context.Background())
	var weather, launches sync.WaitGroup
	weather.Go(func() { s.killAtRandom(ctx) })
	for range stormSweeps {
		launches.Go(func() { s.sweepSome() })
	}
	places := make(chan struct{}, stormAtOnce)
	for n := range stormLaunches {
		places <- struct{}{}
		launches.Go(func() { s.launch(n); <-places })
	}
	launches.Wait()
	stop()
	weather.Wait()
	s.endAll()
	s.check()
}

// launch runs a CLI whose one tool call writes down which session it is told to
// be. Every fourth goes past the shim.
func (s *storm) launch(n int) {
	program := s.shim
	if n%4 == 3 {
		program = s.real
	}
	tool := fmt.Sprintf(`!echo "$AGENT_LEDGER_ID" > "$ACKS/.%d" && mv "$ACKS/.%d" "$ACKS/%d"; sleep 0.%d`, n, n, n, n%10)
	cmd := exec.Command(program, "-p", tool)
	cmd.Env, cmd.Dir = s.env, s.dir
	_ = cmd.Run() // it may be killed
}

func (s *storm) sweepSome() {
	for range 5 {
		cmd := exec.Command("agent-sessions", "sweep", "--quiet")
		cmd.Path, cmd.Env = filepath.Join(os.Getenv(builtVar), "agent-sessions"), s.env
		_ = cmd.Run() // it may be killed
	}
}

// killAtRandom kills whatever runs here, but for the test itself, until ctx ends.
func (s *storm) killAtRandom(ctx context.Context) {
	for ctx.Err() == nil {
		pids := others(s.T)
		if len(pids) > 0 {
			_ = syscall.Kill(pids[rand.IntN(len(pids))], syscall.SIGKILL)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(rand.IntN(20)) * time.Millisecond):
		}
	}
}

// endAll ends what is left.
func (s *storm) endAll() {
	for len(others(s.T)) > 0 {
		for _, pid := range others(s.T) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// others are all processes of this namespace but its first and this one.
func others(t *testing.T) (pids []int) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Error(err)
	}
	for _, name := range names {
		var pid int
		if _, err := fmt.Sscanf(name, "/proc/%d", &pid); err == nil && pid != 1 && pid != os.Getpid() && !zombie(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func zombie(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(raw), ") Z ")
}

func (s *storm) check() {
	store := ledger.Open(filepath.Join(s.dir, "ledger"))
	loaded, err := store.Load(true)
	if err != nil || len(loaded.Damaged) > 0 {
		s.Fatalf("damaged: %v, %v", loaded.Damaged, err)
	}
	if aside, err := os.ReadDir(store.DamagedDir()); err == nil && len(aside) > 0 {
		s.Errorf("set aside: %v", aside)
	}
	rows := map[ledger.ProcessFact]string{}
	for _, e := range loaded.Entries {
		if p, ok := e.Process(); ok {
			if other, twice := rows[p]; twice {
				s.Errorf("process %v has the rows %s and %s", p, other, e.LedgerID)
			}
			rows[p] = e.LedgerID
		}
		if err := store.Update(e.LedgerID, ledger.Within(time.Second), func(*ledger.Entry) error { return ledger.ErrUnchanged }); err != nil {
			s.Errorf("a row that can no longer be written: %v", err)
		}
	}
	s.checkAcknowledged(store)
	s.Logf("%d rows of %d launches, %d of them told of their session", len(loaded.Entries), stormLaunches, len(s.acknowledged()))
	for range 2 {
		cmd := exec.Command(filepath.Join(os.Getenv(builtVar), "agent-sessions"), "sweep", "--json")
		cmd.Env = s.env
		if out, err := cmd.CombinedOutput(); err != nil {
			s.Errorf("the sweep after the storm: %s, %v", out, err)
		}
	}
	after, err := store.Load(true)
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range after.Entries {
		if e.PID != nil && e.FinishedAt == nil && e.SessionID == nil {
			s.Errorf("%s is still open after its process is gone", e.LedgerID)
		}
	}
}

// acknowledged are the sessions that CLIs were told to be, through the shim.
func (s *storm) acknowledged() (ids []string) {
	files, err := filepath.Glob(filepath.Join(s.acks(), "[0-9]*"))
	if err != nil {
		s.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			s.Fatal(err)
		}
		if id := strings.TrimSpace(string(raw)); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *storm) checkAcknowledged(store *ledger.Store) {
	ids := s.acknowledged()
	slices.Sort(ids)
	if len(ids) < stormLaunches/4 {
		s.Errorf("only %d launches got as far as their tool call: nothing was shown", len(ids))
	}
	for i, id := range ids {
		if i > 0 && id == ids[i-1] {
			s.Errorf("two launches were both %s", id)
		}
		if _, err := store.Read(id); err != nil {
			s.Errorf("an acknowledged row is lost: %v", err)
		}
	}
}
