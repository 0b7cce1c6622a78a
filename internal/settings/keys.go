package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// setter takes one key's value, or says why it cannot and changes nothing.
type setter func(json.RawMessage) error

// keys are all settings there are, by their names in the file.
func (s *Settings) keys() map[string]setter {
	const mega = 1 << 20
	return map[string]setter{
		"notify.command":                list(&s.Notify.Command),
		"notify.lost":                   value(&s.Notify.Lost),
		"notify.needs_you":              value(&s.Notify.NeedsYou),
		"notify.finished":               value(&s.Notify.Finished),
		"notify.attached":               value(&s.Notify.Attached),
		"notify.finished_after_minutes": number(0, 7*24*60, func(n int64) { s.Notify.FinishedAfter = time.Duration(n) * time.Minute }),
		"rescue.file_mb":                number(0, 1<<20, func(n int64) { s.Rescue.FileLimit = n * mega }),
		"rescue.total_mb":               number(0, 1<<20, func(n int64) { s.Rescue.TotalLimit = n * mega }),
		"scratch_days":                  number(1, 36500, func(n int64) { s.Scratch.Days = int(n) }),
		"scratch_notice_mb":             number(1, 1<<30, func(n int64) { s.Scratch.NoticeBytes = n * mega }),
		"idle_exit":                     durations(&s.IdleExit),
		"detach_key":                    value(&s.DetachKey),
		"reopen_at_login":               value(&s.ReopenAtLogin),
	}
}

func value[T bool | string](to *T) setter {
	return func(raw json.RawMessage) error {
		var v *T
		if err := json.Unmarshal(raw, &v); err != nil || v == nil {
			return fmt.Errorf("%.40s is not a %T", raw, *to)
		}
		*to = *v
		return nil
	}
}

func number(from, to int64, set func(int64)) setter {
	return func(raw json.RawMessage) error {
		var n *int64
		if err := json.Unmarshal(raw, &n); err != nil || n == nil || *n < from || *n > to {
			return fmt.Errorf("%.40s is not a whole number from %d to %d", raw, from, to)
		}
		set(*n)
		return nil
	}
}

func list(to *[]string) setter {
	return func(raw json.RawMessage) error {
		var l []string
		if err := json.Unmarshal(raw, &l); err != nil {
			return fmt.Errorf("%.40s is not a list of strings", raw)
		}
		if len(l) > 0 && l[0] == "" {
			return errors.New("its first string is empty and must be a program")
		}
		*to = l
		return nil
	}
}

func durations(to *map[string]time.Duration) setter {
	return func(raw json.RawMessage) error {
		var given map[string]string
		if err := json.Unmarshal(raw, &given); err != nil || given == nil {
			return fmt.Errorf("%.40s is not an object of times such as \"30m\"", raw)
		}
		read := map[string]time.Duration{}
		for name, text := range given {
			d, err := time.ParseDuration(text)
			if err != nil || d <= 0 {
				return fmt.Errorf("%.40q is not a time such as 30m", text)
			}
			read[name] = d
		}
		*to = read
		return nil
	}
}
