package transcript

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// cc#59248: Claude Code deletes transcripts by itself.
func TestClaudeRetention(t *testing.T) {
	const day = 24 * time.Hour
	for _, tc := range []struct {
		settings string
		want     time.Duration
		failed   bool
	}{
		{`{}`, 30 * day, false},
		{`{"cleanupPeriodDays": 90}`, 90 * day, false},
		{`{"cleanupPeriodDays": 0}`, 0, false},
		{`{"cleanupPeriodDays": -1}`, 30 * day, false},
		{`{"cleanupPeriodDays": "7"}`, 30 * day, false},
		{`{"cleanupPeriodDays": 7`, 30 * day, true},
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(tc.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ClaudeRetention(home); got != tc.want || (err != nil) != tc.failed {
			t.Errorf("%s: %v, %v", tc.settings, got, err)
		}
	}
	if got, err := ClaudeRetention(t.TempDir()); got != 30*day || err != nil {
		t.Errorf("no settings: %v, %v", got, err)
	}
}
