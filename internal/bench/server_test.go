package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"opentabs/internal/clienttoken"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

// runBenchVariable is the environment variable that makes the test binary behave like the
// program bench.
const runBenchVariable = "OPENTABS_TEST_RUN_BENCH"

var serverProfilePath = flag.String("serverprofile", "", "a file for the CPU profile of the server that BenchmarkServer measures")

func TestMain(m *testing.M) {
	if os.Getenv(runBenchVariable) != "" {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func startServer(b *testing.B, args ...string) string {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), runBenchVariable+"=1")
	cmd.Stderr = b.Output()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(line)
}

// BenchmarkServer compares the HTTP and MCP server of opentabs with a plain JSON echo server. The reported ratio
// divides the median time of opentabs by the median time of the echo server, like the row "server" of `make bench`.
func BenchmarkServer(b *testing.B) {
	const callsPerBlock = 1000
	stateDir := b.TempDir()
	store := plugin.NewStore(stateDir, plugin.StoreOptions{})
	echo := plugintest.Tool{Name: "echo", Description: "Returns its text.", Input: json.RawMessage(
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		Output: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)}
	if _, err := store.Add(plugintest.Package{Name: "bench", Tools: []plugintest.Tool{echo}}.Write(b)); err != nil {
		b.Fatal(err)
	}
	tokens := clienttoken.Open(filepath.Join(stateDir, "clients.json"))
	token, err := tokens.Add("bench")
	if err != nil {
		b.Fatal(err)
	}
	tokens.Close()
	baselineTarget, err := connectTarget(startServer(b, "floor")+"/echo", "")
	if err != nil {
		b.Fatal(err)
	}
	opentabsTarget, err := connectTarget(startServer(b, "instant", "-state", stateDir, "-token", "t", "-profile", *serverProfilePath)+"/mcp", token)
	if err != nil {
		b.Fatal(err)
	}
	measureBlock := func(t *target) int64 {
		m, err := measureCalls(t, request{Tool: "bench__echo", Args: json.RawMessage(fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 188))), Calls: callsPerBlock})
		if err != nil || m.FailedCalls > 0 {
			b.Fatal(err, m.Problem)
		}
		return medianNs(m.CallDurationsNs)
	}
	measureBlock(baselineTarget)
	measureBlock(opentabsTarget)
	var baselineBlocks, opentabsBlocks []int64
	for b.Loop() {
		baselineBlocks = append(baselineBlocks, measureBlock(baselineTarget))
		opentabsBlocks = append(opentabsBlocks, measureBlock(opentabsTarget))
	}
	baselineNs, opentabsNs := medianNs(baselineBlocks), medianNs(opentabsBlocks)
	b.ReportMetric(0, "ns/op") // hides ns/op, which is meaningless: an iteration is a pair of blocks
	b.ReportMetric(float64(opentabsNs), "call-p50-ns")
	b.ReportMetric(float64(baselineNs), "floor-p50-ns")
	b.ReportMetric(float64(opentabsNs)/float64(baselineNs), "ratio")
}

func medianNs(ns []int64) int64 {
	slices.Sort(ns)
	return ns[len(ns)/2]
}
