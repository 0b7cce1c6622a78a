package present

import (
	"fmt"
	"strconv"
	"time"
)

// Age is a length of time in at most two units, the second left out when it is
// zero: 45s, 3m 20s, 1h 37m, 2d 4h, 41d. Less than none is none: 0s.
func Age(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	units := []struct {
		name string
		secs int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}
	for i, u := range units {
		if s < u.secs {
			continue
		}
		text := strconv.FormatInt(s/u.secs, 10) + u.name
		if i+1 < len(units) {
			if rest := s % u.secs / units[i+1].secs; rest > 0 {
				text += " " + strconv.FormatInt(rest, 10) + units[i+1].name
			}
		}
		return text
	}
	return "0s"
}

// Ago is how long before now a time lies, for people: "1h 37m ago", "just now"
// for less than a second and for times to come, "-" for no time at all.
func Ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "-"
	case d < time.Second:
		return "just now"
	default:
		return Age(d) + " ago"
	}
}

// Bytes is a size in powers of 1024 with at most three digits: 0B, 512B,
// 1.5K, 93G.
func Bytes(n uint64) string {
	if n < 1024 {
		return strconv.FormatUint(n, 10) + "B"
	}
	size, unit := float64(n)/1024, 0
	for size >= 999.5 && unit < len("KMGTPE")-1 {
		size, unit = size/1024, unit+1
	}
	if size < 9.95 {
		return fmt.Sprintf("%.1f%c", size, "KMGTPE"[unit])
	}
	return fmt.Sprintf("%.0f%c", size, "KMGTPE"[unit])
}
