#!/usr/bin/env bash
# Builds both programs into a folder, as they are shipped.
#
#   build.sh DIR
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo devel)}

# The shim notes what it was started with before the Go runtime changes it
# (internal/become): hence its own entry point.
CGO_ENABLED=0 go build -trimpath \
	-ldflags="agentwrap/cmd/agentwrap=-E=agentwrap_start -X main.version=$version" \
	-ldflags="agentwrap/cmd/agent-sessions=-X main.version=$version" \
	-o "$dir/" ./cmd/...
