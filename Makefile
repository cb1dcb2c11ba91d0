# bossman: everything a developer runs. `make help` lists the targets.
#
# `make test` is what CI runs. It needs Go, and says what else it missed.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

# The systems that every change must build for.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/arm64 windows/amd64

# How long `make fuzz` spends on one target.
FUZZTIME ?= 5s

# Tools that go run fetches. Their versions change only here.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# Tests add a line here for whatever they could not run; see internal/need.
NOT_RUN := $(CURDIR)/bin/not-run

# $(call step,name,commands): run the commands under a heading, then say how long they took.
step = @echo "==> $(1)"; SECONDS=0; $(2); echo "    $(1) took $$SECONDS s"

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/bossman
	@if [ ! -d cmd/bossman ]; then echo "there is no cmd/bossman yet" >&2; exit 1; fi
	$(call step,build,go build -trimpath -o bin/bossman ./cmd/bossman)

.PHONY: test
test: check-fmt vet cross allocs heavy race bench-test fuzz-short ## Run everything CI runs
	@echo "==> passed"
	@if [ -s "$(NOT_RUN)" ]; then echo "    except for what was NOT RUN:"; sort -u "$(NOT_RUN)" | sed 's/^/    /'; fi

.PHONY: test-short
test-short: ## Run the Go tests, and nothing else
	go test ./...

.PHONY: check-fmt
check-fmt: ## Fail if gofmt would change a file
	$(call step,gofmt,files=$$(gofmt -l .); \
	  if [ -n "$$files" ]; then printf 'not formatted; run make fmt:\n%s\n' "$$files" >&2; exit 1; fi)

.PHONY: fmt
fmt: ## Format every Go file
	gofmt -w .

# Without C, as in cross: the two then share what they compile.
.PHONY: vet
vet: ## Run go vet
	$(call step,vet,CGO_ENABLED=0 go vet ./...)

.PHONY: cross
cross: ## Build and vet for every system in PLATFORMS, without C
	$(call step,cross,for p in $(PLATFORMS); do \
	  echo "    $$p"; \
	  export CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/}; \
	  go build -buildvcs=false ./...; \
	  go vet ./...; \
	done)

.PHONY: allocs
allocs: ## Run the tests that count allocations, which the race detector adds to
	$(call step,allocs,go test -run 'Cheap|Allocate|WithoutAllocations' ./stdio ./streamable ./client ./jsonrpc ./mcp ./schema)

.PHONY: heavy
heavy: ## Run the tests whose full counts are too much for the race detector
	$(call step,heavy,go test -run Heavy -timeout 5m ./streamable -heavy)

.PHONY: race
race: ## Run the Go tests with the race detector, in random order
	$(call step,test,.ci/race "$(NOT_RUN)")

.PHONY: fuzz
fuzz: ## Fuzz every target of every package for FUZZTIME
	$(call step,fuzz,.ci/fuzz $(FUZZTIME))

.PHONY: fuzz-short
fuzz-short: ## Fuzz every target for 3 s, and all of them for 3 minutes at most
	$(call step,fuzz,.ci/fuzz 3s 180)

.PHONY: microbench
microbench: ## Run every benchmark of the Go packages
	go test -run '^$$' -bench . -benchmem ./...

# BENCH is passed on, such as BENCH='-only stdio/.*/add -servers floor,ours'.
.PHONY: bench
bench: ## Compare MCP servers side by side and write bench/RESULTS.md (long)
	cd bench && go run . -out RESULTS.md $(BENCH)

.PHONY: bench-test
bench-test: ## Vet and test the benchmark itself, with every server in it
	$(call step,bench,.ci/bench "$(NOT_RUN)")

.PHONY: bench-quick
bench-quick: ## Compare most of it in about two minutes, with rougher figures
	cd bench && go run . -quick $(BENCH)

.PHONY: lint
lint: vet ## Run go vet and staticcheck (fetched at the first run)
	$(call step,staticcheck,go run $(STATICCHECK) ./...)

.PHONY: vuln
vuln: ## Look for known vulnerabilities (needs the network)
	$(call step,govulncheck,go run $(GOVULNCHECK) ./...)

.PHONY: update
update: ## Rewrite the transcripts from what the code does now; read the diff
	$(call step,update,.ci/update)

.PHONY: clean
clean: ## Remove what make built
	rm -rf bin dist
