#!/usr/bin/env bash
# What a headless launch with its full birth record costs over exec'ing the
# CLI directly, beside an empty Go program that only execs. The ledger is on
# tmpfs where there is one, so that it is the launch that is measured and not
# the disk, and on the disk once more.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-400}

base=$(mktemp -d)
memory=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$base" "$memory"' EXIT
mkdir "$base/shims" "$base/real" "$base/disk"
CGO_ENABLED=0 go build -trimpath -o "$base/" ./bench/emptyexec ./bench/interleave
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$base/real/claude" ./bench/nothing
ln -s "$PWD/bin/agentwrap" "$base/shims/claude"

for home in "$memory" "$base/disk"; do
	echo "headless launch, ledger on $(stat -f -c %T "$home") (asked: at most 1.4)"
	env -i HOME="$home" PATH="$base/shims:$base/real:/usr/bin:/bin" "$base/interleave" -n "$runs" \
		"directly=$base/real/claude -p" \
		"empty Go program=$base/emptyexec $base/real/claude -p" \
		"agentwrap=$base/shims/claude -p" \
		"agentwrap, no record=$base/shims/claude --version"
done
