# make test installs what it needs, except Go, Node and apt (which installs Chromium).

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build gen fmt lint test test-go test-ts nightly e2e faults attacks fuzz bench bench-program bench-smoke conformance soak demo picture man release snapshot store setup clean

WORKSPACES := wire extension sdk-ts

## build: builds bin/opentabs without the tables for debuggers (9 MB), which stack traces and profiles do not need
build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/opentabs ./cmd/opentabs

## man: writes the manual pages to bin/man
man: build
	bin/opentabs man --dir bin/man

## gen: regenerates wire/wire.gen.ts
gen:
	go generate ./wire

## fmt: formats Go and TypeScript in place
fmt: setup
	gofmt -w $$(.ci/go-files)
	node_modules/.bin/biome check --write .

## lint: runs gofmt, vet, staticcheck, tsc and biome; changes nothing
lint: setup
	.ci/lint

## test: runs all tests, including those in a real browser
test: setup lint test-go test-ts bench-smoke e2e faults
	@echo "== make test: all passed"

test-go:
	@echo "== go test"
	.ci/go-test

test-ts: setup
	@for w in $(WORKSPACES); do echo "== node --test $$w"; npm run -s -w $$w test || exit 1; done

## nightly: runs the tests at a larger scale, with the race detector on all code, long fuzzing, bench, conformance and soak
nightly: setup build
	@echo "== go test, with the race detector also on libraries and child processes"
	OPENTABS_TEST_RACE=1 .ci/go-test
	$(MAKE) snapshot
	FUZZTIME=2m .ci/fuzz
	OPENTABS_TEST_ALL=1 $(MAKE) e2e attacks
	$(MAKE) conformance bench soak

## e2e: runs the end-to-end tests with the built binary, a real Chromium and a local site
e2e: setup build bench-program
	@echo "== e2e"
	CHROMIUM=$$(.ci/chromium) npm run -s -w e2e test
	CHROMIUM=$$(.ci/chromium) npm run -s -w e2e load

## fuzz: runs every fuzz target for FUZZTIME (30s); stores failing inputs in testdata/fuzz
fuzz:
	.ci/fuzz

## faults: causes each fault during a call and between calls in a real browser, and prints a table of what happened
faults: setup build
	@echo "== faults"
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e faults

## attacks: runs all attacks of the threat model and prints the threat, the attempt and the result of each
attacks: setup build
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e attacks

bench-program:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/bench ./internal/bench

## bench: measures every number that docs/performance.md promises, and its reference value (floor); ROWS=echo,load selects rows, JSON=out.json also writes a file, PEERS=DIR compares browser tools
bench: setup build bench-program
	@CHROMIUM=$$(.ci/chromium) BENCH_JSON="$(abspath $(JSON))" PEERS="$(abspath $(PEERS))" npm run -s -w e2e bench

## bench-smoke: compares counts and ratios of speed and memory with internal/bench/smoke.json in about 10 s; UPDATE=1 stores the new values
bench-smoke: setup build bench-program
	@echo "== bench-smoke"
	@bin/bench smoke $(if $(UPDATE),-update)

## conformance: runs the official MCP suites for protocol versions with and without sessions, against the program with a real browser
conformance: setup build
	@.ci/conformance-setup
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e conformance

## soak: runs mixed calls under random faults for 30 min, then the real limits (5 min); SEED, DURATION, ONLY=mixed|limits|load
soak: setup build
	CHROMIUM=$$(.ci/chromium) npm run -s -w e2e soak

## demo: for developers of opentabs: a long, a silent and a cancelled call in a separate Chromium; users run `opentabs demo`
demo: setup build
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e demo

## picture: draws docs/images/long-call.svg from a real long call in a terminal
picture: setup build
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e picture

## release: writes a release for all systems into dist; RELEASE_URL is the address of the folder with the newest release, STORE_EXTENSIONS the IDs in stores
release: setup
	@test -n "$(RELEASE_URL)" || { echo "opentabs: set RELEASE_URL, such as RELEASE_URL=https://example.com/opentabs/latest" >&2; exit 1; }
	go run ./internal/release -out dist -url "$(RELEASE_URL)" -store-extensions "$(STORE_EXTENSIONS)"

## store: writes the extension for stores and the pictures of its listing into bin/store (docs/store.md)
store: setup build
	go run ./internal/release -store -out bin/store
	@CHROMIUM=$$(.ci/chromium) npm run -s -w e2e store

## snapshot: writes a release without a download address into dist, for local tests
snapshot: setup
	go run ./internal/release -out dist

setup:
	@.ci/setup

clean:
	rm -rf bin dist coverage e2e/artifacts
