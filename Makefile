# make test does its own set-up: it needs Go, Node and (for Chromium) apt.

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build gen fmt lint test test-go test-ts nightly e2e faults attacks fuzz bench conformance soak demo picture setup clean

WORKSPACES := wire extension sdk-ts

## build: the program, bin/opentabs, without the tables for debuggers (9 MB). Stack traces and profiles don't need them.
build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/opentabs ./cmd/opentabs

## gen: rewrite what is generated (wire/wire.gen.ts)
gen:
	go generate ./wire

## fmt: format Go and TypeScript in place
fmt: setup
	gofmt -w $$(.ci/go-files)
	node_modules/.bin/biome check --write .

## lint: gofmt, vet, staticcheck, tsc, biome; changes nothing
lint: setup
	.ci/lint

## test: everything, real browser included
test: setup lint test-go test-ts e2e faults
	@echo "== make test: all passed"

test-go:
	@echo "== go test"
	.ci/go-test

test-ts: setup
	@for w in $(WORKSPACES); do echo "== node --test $$w"; npm run -s -w $$w test || exit 1; done

## nightly: what make test does at a smaller scale: the race detector on everything, long fuzzing, all of bench, conformance and soak
nightly: setup build
	@echo "== go test, the race detector on libraries and child processes too"
	OPENTABS_TEST_RACE=1 .ci/go-test
	@for os in darwin windows; do echo "== go build for $$os"; GOOS=$$os GOARCH=arm64 CGO_ENABLED=0 go build -trimpath -o /dev/null ./cmd/opentabs || exit 1; done
	FUZZTIME=2m .ci/fuzz
	$(MAKE) conformance bench soak

## e2e: the built binary, a real Chromium, a local site
e2e: setup build
	@echo "== e2e"
	CHROMIUM=$$(.ci/chromium) npm run -s -w e2e test

## fuzz: every fuzz target for FUZZTIME (30s); what is found is kept in testdata/fuzz
fuzz:
	.ci/fuzz

## faults: everything that can break, mid-call and between calls, in a real browser: a table of what happened
faults: setup build
	@echo "== faults"
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e faults

## attacks: run all attacks of the threat model and print one line each: threat, repelled or not, attempt
attacks: setup build
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e attacks

## bench: every number that is promised, beside its floor; ROWS=echo,load for some, JSON=out.json for a file too
bench: setup build
	go build -trimpath -o bin/bench ./internal/bench
	@CHROMIUM=$$(.ci/chromium) BENCH_JSON="$(abspath $(JSON))" npm run -s -w e2e bench

## conformance: the official MCP suites, both protocol eras, against the program with a real browser
conformance: setup build
	@.ci/conformance-setup
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e conformance

## soak: 30 min of mixed calls under random faults, then the real limits (5 min); SEED, DURATION, ONLY=mixed|limits|load
soak: setup build
	CHROMIUM=$$(.ci/chromium) npm run -s -w e2e soak

## demo: a long call with live progress, a silent one and a cancelled one
demo: setup build
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e demo

## picture: draw docs/images/long-call.svg from a real long call in a terminal
picture: setup build
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e picture

setup:
	@.ci/setup

clean:
	rm -rf bin coverage e2e/artifacts
