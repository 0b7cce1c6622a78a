package observe

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"agentwrap/internal/ledger"
	"agentwrap/internal/opencodedb"
	"agentwrap/internal/procscan"
	"agentwrap/internal/transcript"
)

// readTranscripts finds and stats each session's transcript and, where asked,
// reads its two ends.
func (v *View) readTranscripts(ctx context.Context, sessions []*Session, texts bool) {
	kept := &retentions{byHome: map[string]time.Duration{}}
	store := &sharedStore{path: v.sources.OpencodeStore}
	defer store.close()
	each(sessions, runtime.GOMAXPROCS(0), func(s *Session) {
		d, err := v.digest(ctx, s.Entry, store, texts)
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

// digest is what a session's own transcript or, for a CLI whose sessions share
// one store, its own row there tells.
func (v *View) digest(ctx context.Context, e *ledger.Entry, store *sharedStore, texts bool) (transcript.Digest, error) {
	path := v.transcriptOf(e)
	switch {
	case path == "" && e.Runtime == "opencode" && e.SessionID != nil:
		return store.session(ctx, *e.SessionID)
	case path == "":
		return transcript.Digest{}, fs.ErrNotExist
	case texts:
		return transcript.Read(v.sources.Profiles.For(e.Runtime).TranscriptShape(), path)
	}
	info, err := transcript.Stat(path)
	return transcript.Digest{Info: info}, err
}

// sharedStore is opencode's store, opened for the first session that needs it.
type sharedStore struct {
	path  string
	once  sync.Once
	store *opencodedb.Store
	err   error
}

func (s *sharedStore) session(ctx context.Context, id string) (transcript.Digest, error) {
	s.once.Do(func() { s.store, s.err = opencodedb.Open(s.path) })
	if s.err != nil {
		return transcript.Digest{}, s.err
	}
	return s.store.Session(ctx, id)
}

func (s *sharedStore) close() {
	if s.store != nil {
		s.store.Close()
	}
}

// transcriptOf is where a session's transcript is now: as recorded, else
// wherever the file of its id is.
func (v *View) transcriptOf(e *ledger.Entry) string {
	recorded := ledger.Value(e.TranscriptPath)
	if recorded != "" && exists(recorded) || e.SessionID == nil {
		return recorded
	}
	found, err := v.findTranscript(v.configHome(e), *e.SessionID, e)
	if err != nil || found == "" {
		return recorded
	}
	return found
}

func (v *View) findTranscript(folder, id string, e *ledger.Entry) (string, error) {
	if folder == "" {
		return "", nil
	}
	if e.Runtime == "claude" {
		return transcript.FindClaude(folder, id, ledger.Value(e.CWD))
	}
	return transcript.Find(folder, v.sources.Profiles.For(e.Runtime).Transcripts, id)
}

// configHome is the folder that a session's CLI keeps its files in, "" where
// that is not known.
func (v *View) configHome(e *ledger.Entry) string {
	return v.sources.Profiles.For(e.Runtime).Folder(ledger.Value(e.ConfigHome), v.sources.Home)
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
	if len(byFolder) == 0 {
		return
	}
	for cwd, dirty := range v.sources.Dirty(ctx, slices.Collect(maps.Keys(byFolder))) {
		for _, s := range byFolder[cwd] {
			if s.DirtySlow = dirty.Slow; !dirty.Slow && dirty.Err == nil {
				s.DirtyCount = &dirty.Count
			}
		}
	}
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
