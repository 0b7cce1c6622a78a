package rescue

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"agentwrap/test/gittest"
)

// BenchmarkSnapshot takes snapshots of 10 changed and 10 new files beside git
// status in the same repository, turn by turn, and reports the ratio of the
// medians. bench/rescue.sh runs it.
func BenchmarkSnapshot(b *testing.B) {
	for _, files := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			r := large(b, files)
			runner := runnerOf(b, r)
			var status, saved []time.Duration
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				for k := range 10 {
					r.Write(fmt.Sprintf("d0/s%d/f0.txt", k), fmt.Sprintf("changed %d\n", n))
					r.Write(fmt.Sprintf("d0/s%d/new.txt", k), fmt.Sprintf("new %d\n", n))
				}
				status = append(status, timed(func() { plainStatus(b, r) }))
				req := requestFor(r)
				req.Now = testNow.Add(time.Duration(n) * time.Second)
				b.StartTimer()
				saved = append(saved, timed(func() {
					result, err := Snapshot(context.Background(), runner, req)
					if err != nil || len(result.Paths) != 20 {
						b.Fatal(len(result.Paths), err)
					}
				}))
				b.StopTimer()
				r.Git("update-ref", "-d", refPrefix+testID)
				b.StartTimer()
			}
			b.ReportMetric(ms(status), "ms-status")
			b.ReportMetric(ms(saved), "ms-rescue")
			b.ReportMetric(ms(saved)/ms(status), "rescue/status")
		})
	}
}

// BenchmarkLargeFile takes snapshots beside an untracked file of 2 GB, which is
// left out by name.
func BenchmarkLargeFile(b *testing.B) {
	r := gittest.New(b)
	runner := runnerOf(b, r)
	r.Write("a.txt", "later\n")
	sparseFile(b, r, "data.bin", 2<<30)
	var saved []time.Duration
	for n := 0; b.Loop(); n++ {
		req := requestFor(r)
		req.Live, req.Now = true, testNow.Add(time.Duration(n)*time.Second)
		saved = append(saved, timed(func() {
			if result, err := Snapshot(context.Background(), runner, req); err != nil || len(result.Skipped) != 1 {
				b.Fatal(result, err)
			}
		}))
	}
	b.ReportMetric(ms(saved), "ms-rescue")
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func ms(times []time.Duration) float64 {
	return float64(median(times).Microseconds()) / 1000
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// large makes a repository of so many files, packed, in folders of 100.
func large(b *testing.B, files int) *gittest.Repo {
	r := gittest.Init(b)
	for n := range files {
		r.Write(fmt.Sprintf("d%d/s%d/f%d.txt", n/2000, n/100%20, n%100), fmt.Sprintf("file %d\n", n))
	}
	r.Git("config", "gc.auto", "0")
	r.Commit("many")
	r.Git("gc", "-q")
	r.Git("status")
	return r
}

func plainStatus(b *testing.B, r *gittest.Repo) {
	cmd := exec.Command("git", "status")
	cmd.Dir, cmd.Env = r.Dir, append(os.Environ(), r.Env...)
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
}
