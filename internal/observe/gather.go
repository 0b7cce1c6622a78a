package observe

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"agentwrap/internal/ledger"
	"agentwrap/internal/procscan"
	"agentwrap/internal/runtimes"
	"agentwrap/internal/transcript"
)

// readTranscripts finds and stats each session's transcript and, where asked,
// reads its two ends.
func (v *View) readTranscripts(sessions []*Session, texts bool) {
	kept := &retentions{byHome: map[string]time.Duration{}}
	each(sessions, runtime.GOMAXPROCS(0), func(s *Session) {
		path := v.transcriptOf(s.Entry)
		if path == "" {
			return
		}
		d, err := digest(s.Entry.Runtime, path, texts)
		if err != nil {
			return // gone, or no file: as if there were none
		}
		s.facts.Transcript = &ledger.TranscriptFacts{Size: d.Size, ModTime: d.ModTime}
		s.facts.Interrupted = d.Interrupted
		s.Title, s.Activity = d.Title, d.Activity
		if home := v.configHome(s.Entry); s.Entry.Runtime == "claude" && home != "" {
			s.TranscriptExpiresAt = ledger.Ptr(d.ModTime.Add(kept.of(home)))
		}
	})
}

// retentions reads how long Claude Code keeps transcripts once for each of its
// folders.
type retentions struct {
	lock   sync.Mutex
	byHome map[string]time.Duration
}

func (r *retentions) of(home string) time.Duration {
	r.lock.Lock()
	defer r.lock.Unlock()
	d, ok := r.byHome[home]
	if !ok {
		d, _ = transcript.ClaudeRetention(home) // its default where that fails
		r.byHome[home] = d
	}
	return d
}

func digest(runtime, path string, texts bool) (transcript.Digest, error) {
	if texts {
		return transcript.Read(runtime, path)
	}
	info, err := transcript.Stat(path)
	return transcript.Digest{Info: info}, err
}

// transcriptOf is where a session's transcript is now: as recorded, else, for
// a CLI that moves them, wherever the file of its id is.
func (v *View) transcriptOf(e *ledger.Entry) string {
	recorded := ledger.Value(e.TranscriptPath)
	if recorded != "" && exists(recorded) {
		return recorded
	}
	home := v.configHome(e)
	if e.Runtime != "claude" || e.SessionID == nil || home == "" {
		return recorded
	}
	found, err := transcript.FindClaude(home, *e.SessionID, ledger.Value(e.CWD))
	if err != nil || found == "" {
		return recorded
	}
	return found
}

// configHome is the folder that a session's CLI keeps its files in, "" where
// that is not known.
func (v *View) configHome(e *ledger.Entry) string {
	if e.ConfigHome != nil {
		return *e.ConfigHome
	}
	if below := runtimes.For(e.Runtime).ConfigHome; below != "" && v.sources.Home != "" {
		return filepath.Join(v.sources.Home, below)
	}
	return ""
}

// hostTimeout is how long one host may take to answer: longer than any healthy
// one takes, short enough for a list.
const hostTimeout = 400 * time.Millisecond

// askHosts asks every host at once who is attached.
func (v *View) askHosts(ctx context.Context, sessions []*Session) {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	servers := &servers{ask: v.sources.Hosts, seen: map[string]*server{}}
	each(sessions, 16, func(s *Session) {
		if s.Whereabouts.Presence == ledger.Running && s.Entry.FinishedAt == nil {
			s.facts.Host = v.hostFacts(ctx, s.Entry, servers)
		}
	})
}

func (v *View) hostFacts(ctx context.Context, e *ledger.Entry, servers *servers) ledger.HostFacts {
	socket := ledger.Value(e.Mux.Socket)
	switch {
	case e.HostSocket != nil:
		f := ledger.HostFacts{Socket: isSocket(*e.HostSocket)}
		if f.Socket && v.sources.Hosts != nil {
			n, err := v.sources.Hosts.HolderClients(ctx, *e.HostSocket)
			f.Clients, f.Answered = n, err == nil
		}
		return f
	case socket == "":
		return ledger.HostFacts{}
	case ledger.Value(e.Mux.Kind) == ledger.MuxDtach:
		n, listening, err := procscan.SocketClients(socket)
		return ledger.HostFacts{Socket: isSocket(socket), Clients: n, Answered: err == nil && listening}
	}
	f := ledger.HostFacts{Socket: isSocket(socket)}
	if f.Socket && v.sources.Hosts != nil {
		f.Clients, f.Answered = servers.clients(ctx, socket, ledger.Value(e.Mux.Target))
	}
	return f
}

// servers asks each multiplexer's server once for all of its sessions.
type servers struct {
	ask  Hosts
	lock sync.Mutex
	seen map[string]*server
}

type server struct {
	once     sync.Once
	sessions map[string]int
	err      error
}

func (s *servers) clients(ctx context.Context, socket, session string) (int, bool) {
	s.lock.Lock()
	srv, ok := s.seen[socket]
	if !ok {
		srv = &server{}
		s.seen[socket] = srv
	}
	s.lock.Unlock()
	srv.once.Do(func() { srv.sessions, srv.err = s.ask.AttachedSessions(ctx, socket) })
	n, ok := srv.sessions[session]
	return n, ok && srv.err == nil
}

func isSocket(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().Type() == fs.ModeSocket
}

// weigh reads what each running session's processes use.
func (v *View) weigh(sessions []*Session) {
	var roots []int
	for _, s := range sessions {
		if s.State.Alive() {
			roots = append(roots, s.Process.PID)
		}
	}
	costs, err := procscan.Costs(roots)
	if err != nil {
		return
	}
	for _, s := range sessions {
		if c, ok := costs[s.Process.PID]; ok && s.State.Alive() {
			s.Memory, s.CPUTicks = &c.Memory, &c.CPUTicks
		}
	}
}

// countDirty counts the uncommitted files of each session that has not
// finished, once for each folder.
func (v *View) countDirty(ctx context.Context, sessions []*Session) {
	byFolder := map[string][]*Session{}
	for _, s := range sessions {
		if cwd := ledger.Value(s.Entry.CWD); cwd != "" && s.State != ledger.Finished {
			byFolder[cwd] = append(byFolder[cwd], s)
		}
	}
	var folders []string
	for cwd := range byFolder {
		folders = append(folders, cwd)
	}
	each(folders, runtime.GOMAXPROCS(0), func(cwd string) {
		n, err := v.sources.Dirty(ctx, cwd)
		if err != nil {
			return // not a repository, or gone: null
		}
		for _, s := range byFolder[cwd] {
			s.DirtyCount = &n
		}
	})
}

// each does something with all of some things, a number of them at a time.
func each[T any](things []T, atOnce int, do func(T)) {
	var group errgroup.Group
	group.SetLimit(max(1, atOnce))
	for _, t := range things {
		group.Go(func() error { do(t); return nil })
	}
	_ = group.Wait() // do has no error to give
}
