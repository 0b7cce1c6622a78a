package ledger

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
)

// Encode is an entry as its file holds it: one JSON object, indented, every
// field of this version in its order, then the unknown ones as they came, and
// a newline at the end. It goes without reflection, which costs a launch more
// than all the rest of its record.
func Encode(e *Entry) ([]byte, error) {
	o := object{buf: make([]byte, 0, 2048)}
	e.write(&o)
	for _, f := range e.unknown {
		o.raw(f.name, f.value)
	}
	if o.err != nil {
		return nil, fmt.Errorf("encode entry %s: %w", e.LedgerID, o.err)
	}
	return append(o.buf, "\n}\n"...), nil
}

// MarshalJSON is Encode, for entries inside of other JSON.
func (e Entry) MarshalJSON() ([]byte, error) { return Encode(&e) }

func (e *Entry) write(o *object) {
	o.number("schemaVersion", uint64(e.SchemaVersion))
	o.text("ledgerId", e.LedgerID)
	o.text("runtime", e.Runtime)
	o.stamp("startedAt", e.StartedAt)
	o.optional("host", e.Host)
	o.optional("bootId", e.BootID)
	o.optional("cwd", e.CWD)
	o.optional("repoRoot", e.RepoRoot)
	o.optional("project", e.Project)
	o.optional("branch", e.Branch)
	o.boolean("worktree", e.Worktree)
	o.optional("tty", e.TTY)
	o.integer("launcherPid", e.LauncherPID)
	o.optional("parentLedgerId", e.ParentLedgerID)
	o.optional("parent", e.Parent)
	o.optional("launchedBy", e.LaunchedBy)
	o.optional("account", e.Account)
	o.text("enrolledBy", e.EnrolledBy)
	o.mux("mux", e.Mux)
	o.optional("tmuxSession", e.TmuxSession)
	o.optional("tmuxSocket", e.TmuxSocket)
	o.integer("pid", e.PID)
	o.ticks("pidStartTicks", e.PIDStartTicks)
	o.ticks("cpuTicks", e.CPUTicks)
	o.optional("sessionId", e.SessionID)
	o.optional("transcriptPath", e.TranscriptPath)
	o.stamp("lastActiveAt", e.LastActiveAt)
	o.stamp("lastHeartbeatAt", e.LastHeartbeat)
	o.stamp("finishedAt", e.FinishedAt)
	o.optional("finishReason", e.FinishReason)
	o.stamp("rescuedAt", e.RescuedAt)
	o.optional("rescueRef", e.RescueRef)
	o.optional("rescueCommit", e.RescueCommit)
	o.texts("rescuedPaths", e.RescuedPaths)
	o.list("rescueSkipped", len(e.RescueSkipped), e.RescueSkipped)
	o.boolean("interactive", e.Interactive)
	o.optional("hostSocket", e.HostSocket)
	o.optional("clientTty", e.ClientTTY)
	o.exit("exitStatus", e.ExitStatus)
	o.optional("endedBy", e.EndedBy)
	o.optional("turn", e.Turn)
	o.stamp("turnAt", e.TurnAt)
	o.list("sessionIds", len(e.SessionIDs), e.SessionIDs)
	o.optional("resumedFrom", e.ResumedFrom)
	o.optional("scratch", e.Scratch)
	o.optional("configHome", e.ConfigHome)
	o.texts("flags", e.Flags)
	o.optional("resumedBy", e.ResumedBy)
	o.optional("resumeClaim", e.ResumeClaim)
	o.ticks("turnOrder", e.TurnOrder)
	o.texts("told", e.Told)
	o.texts("takenFacts", e.TakenFacts)
}

// object is a JSON object under way.
type object struct {
	buf []byte
	err error
}

func (o *object) name(name string) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, "{\n  "...)
	} else {
		o.buf = append(o.buf, ",\n  "...)
	}
	o.buf = append(gjson.AppendJSONString(o.buf, name), ": "...)
}

func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.buf = append(o.buf, value...)
}

func (o *object) null(name string) { o.raw(name, []byte("null")) }

func (o *object) text(name, value string) {
	o.name(name)
	o.buf = gjson.AppendJSONString(o.buf, value)
}

func (o *object) optional(name string, value *string) {
	if value == nil {
		o.null(name)
		return
	}
	o.text(name, *value)
}

func (o *object) number(name string, value uint64) {
	o.name(name)
	o.buf = strconv.AppendUint(o.buf, value, 10)
}

func (o *object) ticks(name string, value *uint64) {
	if value == nil {
		o.null(name)
		return
	}
	o.number(name, *value)
}

func (o *object) integer(name string, value *int) {
	if value == nil {
		o.null(name)
		return
	}
	o.name(name)
	o.buf = strconv.AppendInt(o.buf, int64(*value), 10)
}

func (o *object) boolean(name string, value *bool) {
	if value == nil {
		o.null(name)
		return
	}
	o.name(name)
	o.buf = strconv.AppendBool(o.buf, *value)
}

func (o *object) stamp(name string, value *Stamp) {
	if value == nil {
		o.null(name)
		return
	}
	o.text(name, value.String())
}

// texts writes a list of texts.
func (o *object) texts(name string, list []string) {
	if len(list) == 0 {
		o.raw(name, []byte("[]"))
		return
	}
	o.name(name)
	between := "[\n    "
	for _, text := range list {
		o.buf = gjson.AppendJSONString(append(o.buf, between...), text)
		between = ",\n    "
	}
	o.buf = append(o.buf, "\n  ]"...)
}

// list writes a list of length n; what is in one is left to encoding/json, as
// few launches have any.
func (o *object) list(name string, n int, list any) {
	if n == 0 {
		o.raw(name, []byte("[]"))
		return
	}
	o.value(name, list)
}

func (o *object) value(name string, value any) {
	raw, err := json.MarshalIndent(value, "  ", "  ")
	if err != nil && o.err == nil {
		o.err = err
	}
	o.raw(name, raw)
}

func (o *object) mux(name string, m Mux) {
	if m == (Mux{}) {
		o.raw(name, []byte("{\n    \"kind\": null,\n    \"socket\": null,\n    \"target\": null\n  }"))
		return
	}
	o.value(name, m)
}

func (o *object) exit(name string, status *ExitStatus) {
	if status == nil {
		o.null(name)
		return
	}
	o.value(name, status)
}
