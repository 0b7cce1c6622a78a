# What there is to do with this project. Nothing here needs root.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

BIN := bin

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# What install.sh sources is checked with it.
SCRIPTS := $$(find . -name '*.sh' -not -path './.git/*' -not -path './tools/install/*') .ci/run
FUZZTIME := 20s

.PHONY: all test race test-real lint bench fuzz demo dist clean help

all: ## build both programs into bin/
	tools/build.sh $(BIN)

test: ## every test but those on the real CLIs
	go test -timeout 15m ./...

race: ## the same under the race detector
	GORACE=atexit_sleep_ms=0 go test -race -timeout 30m ./...

test-real: ## the tests on the real CLIs, pinned, against a model server on loopback
	go test -tags real -timeout 30m ./test/real/...

lint: ## gofmt, vet, staticcheck, govulncheck, shellcheck
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "gofmt -w is due: $$unformatted" >&2; exit 1; }
	go vet -tags real ./...
	go run $(STATICCHECK) -tags real ./...
	tools/vulncheck.sh $(GOVULNCHECK) ./...
	shellcheck -x $(SCRIPTS)

bench: all ## what it costs, beside a limit or a peer, in one run each
	@for script in bench/*.sh; do echo "== $$script"; "$$script"; done

fuzz: ## every fuzz target for FUZZTIME
	@for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' "$$package" | grep '^Fuzz' || true); do \
			echo "== $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package"; \
		done; \
	done

demo: all ## the whole story in a minute, on a stand-in CLI, in a throwaway HOME (docs/demo.txt)
	@demo/demo.sh

dist: ## release tarballs with their checksums, in dist/
	tools/dist.sh

clean: ## remove what was built
	rm -rf bin dist

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | column -t -s "$$(printf '\t')"
