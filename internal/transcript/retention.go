package transcript

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/tidwall/gjson"
)

// settingsLimit bounds what is read of a CLI's settings, in bytes.
const settingsLimit = 1 << 20

// claudeDefaultDays is how long Claude Code keeps a transcript by itself.
const claudeDefaultDays = 30

// ClaudeRetention is how long after its last change Claude Code deletes a
// transcript: cleanupPeriodDays of its own settings, else 30 days. Where the
// settings cannot be understood it is 30 days and an error.
func ClaudeRetention(configHome string) (time.Duration, error) {
	const day = 24 * time.Hour
	path := filepath.Join(configHome, "settings.json")
	f, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return claudeDefaultDays * day, nil
	}
	if err != nil {
		return claudeDefaultDays * day, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, settingsLimit))
	if err != nil || !gjson.ValidBytes(raw) {
		return claudeDefaultDays * day, errors.Join(fmt.Errorf("read cleanupPeriodDays in %s: it is not JSON", path), err)
	}
	days := gjson.GetBytes(raw, "cleanupPeriodDays")
	if days.Type != gjson.Number || days.Num < 0 || days.Num > 100_000 {
		return claudeDefaultDays * day, nil
	}
	return time.Duration(days.Num * float64(day)), nil
}
