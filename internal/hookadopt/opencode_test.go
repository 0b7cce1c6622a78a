package hookadopt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentwrap/internal/ledger"
)

func TestWhatTheOpencodePluginSays(t *testing.T) {
	for event, want := range map[string]meaning{
		"created": {begins: true}, "prompt": {turn: ledger.TurnIts}, "idle": {turn: ledger.TurnYours}, "asked": {turn: ledger.TurnYours}, "unheard of": {},
	} {
		p := parsePayload([]byte(`{"hook_event_name":"` + event + `","session_id":"ses_1","transcript_path":"/home/user/.local/share/opencode/opencode.db"}`))
		if diff := cmp.Diff(want, opencode.meaning(p), cmp.AllowUnexported(meaning{})); diff != "" {
			t.Errorf("%s: %s", event, diff)
		}
		if path, own := opencode.transcript(p, place{}); path != "" || !own || p.conversation != "ses_1" {
			t.Errorf("%s: transcript %q, %v", event, path, own)
		}
	}
	if out := opencode.answer("created", "something"); out != nil {
		t.Errorf("answers %q", out)
	}
}
