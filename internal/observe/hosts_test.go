package observe

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"

	"agentwrap/internal/ledger"
	"agentwrap/test/isolate"
)

type fakeHosts struct {
	holders map[string]int
	servers map[string]map[string]int
	asked   int
}

func (f *fakeHosts) HolderClients(_ context.Context, socket string) (int, error) {
	n, ok := f.holders[socket]
	if !ok {
		return 0, errors.New("no answer")
	}
	return n, nil
}

func (f *fakeHosts) AttachedSessions(_ context.Context, socket string) (map[string]int, error) {
	f.asked++
	return f.servers[socket], nil
}

func TestWhoIsAttached(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		socket := func(name string) *string {
			path := filepath.Join(w.home, name)
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			return &path
		}
		free, taken, mute, own, dtach := socket("free"), socket("taken"), socket("mute"), socket("own"), socket("dtach")
		hosts := &fakeHosts{map[string]int{*free: 0, *taken: 2}, map[string]map[string]int{*own: {"away": 0, "here": 1}}, 0}
		w.src.Hosts = hosts
		hosted := func(path *string) string {
			return w.row("claude", func(e *ledger.Entry) { of(claude().Start(t))(e); e.HostSocket = path }).LedgerID
		}
		inMux := func(kind string, path *string, target string) string {
			return w.row("claude", func(e *ledger.Entry) {
				of(claude().Start(t))(e)
				e.Mux = ledger.Mux{Kind: &kind, Socket: path, Target: ledger.Known(target)}
			}).LedgerID
		}
		ids := map[string]ledger.State{
			hosted(free): ledger.DetachedAlive, hosted(taken): ledger.AliveIdle, hosted(mute): ledger.AliveIdle, hosted(ledger.Ptr(w.home + "/none")): ledger.AliveIdle,
			inMux(ledger.MuxTmux, own, "away"): ledger.DetachedAlive, inMux(ledger.MuxTmux, own, "here"): ledger.AliveIdle, inMux(ledger.MuxTmux, own, "renamed"): ledger.AliveIdle,
			inMux(ledger.MuxDtach, dtach, ""): ledger.DetachedAlive,
		}
		v := w.view(Want{Clients: true})
		for id, want := range ids {
			if s := w.session(v, id); s.State != want {
				t.Errorf("%v: %s (%s), want %s", s.Entry.Mux, s.State, s.Evidence, want)
			}
		}
		if hosts.asked != 1 {
			t.Errorf("the server was asked %d times", hosts.asked)
		}
		if s := w.session(w.view(Want{}), v.Sessions[0].Entry.LedgerID); s.State == ledger.DetachedAlive {
			t.Error("detached without having asked")
		}
	})
}
