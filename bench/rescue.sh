#!/usr/bin/env bash
# What saving 10 changed and 10 new files costs beside `git status` in the same
# repository, in turn, in repositories of 10,000 and 100,000 files; and what a
# rescue costs beside an untracked file of 2 GB. Unlike git status a rescue waits
# for the disk, so the first two are run once more where there is none to wait for.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-40}

base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
go test -c -o "$base/rescue.test" ./internal/rescue
measure() { # measure FOLDER BENCHMARK
	(cd internal/rescue && TMPDIR=$1 "$base/rescue.test" -test.run '^$' -test.bench "$2" -test.benchtime "${runs}x") |
		sed -En 's,^Benchmark([A-Za-z]+)(/files=([0-9]+))?-.* ([0-9.]+) ms-rescue(.* ([0-9.]+) ms-status.* ([0-9.]+) rescue/status)?.*,\3 \4 \6 \7,p' |
		while read -r files rescue status ratio; do
			if [ -n "${ratio:-}" ]; then
				echo "  $files files: git status $status ms, a rescue $rescue ms, ratio $ratio"
			else
				echo "  a rescue $files ms"
			fi
		done
}
echo "a rescue of 10 changed and 10 new files (asked: at most 2), on the disk of $base"
measure "$base" Snapshot
if [ -d /dev/shm ]; then
	echo "the same in memory"
	measure /dev/shm Snapshot
fi
echo "beside an untracked file of 2 GB (asked: under a second)"
measure "$base" LargeFile
