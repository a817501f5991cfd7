package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"opentabs/internal/bench/smoke"
)

// The paths smokeFile and program are relative to the root of the repository.
const (
	smokeFile = "internal/bench/smoke.json"
	program   = "bin/opentabs"
)

// One measurement of a row is not enough, because other programs on the machine can slow down a
// measurement.
const smokeAttempts = 3

// smokeGroup is a group of rows in the table of `make bench-smoke` whose values come from
// the same measurement.
type smokeGroup struct {
	rows    []smoke.Row
	measure func(ctx context.Context, dir string) ([]float64, error)
	// needsLinux is true if the measurement reads /proc, which only Linux has.
	needsLinux bool
}

// The tolerances of times and memory are several times the spread of 20 runs on one machine (see docs/performance.md),
// because ratios of times differ between processors.
var smokeGroups = []smokeGroup{
	{rows: []smoke.Row{
		{ID: "call-allocs", Description: "allocations of a call over HTTP to a tool without a page, with those of its client", Tolerance: 3},
		{ID: "server-ratio", Description: "time of that call, as a multiple of a plain echo over HTTP", Unit: "x", Tolerance: 0.5},
	}, measure: func(_ context.Context, dir string) ([]float64, error) {
		costs, err := measureSmokeCalls(dir)
		return []float64{costs.allocs, costs.ratio}, err
	}},
	{rows: []smoke.Row{
		{ID: "dispatch-bytes", Description: "bytes of the frame that sends a call without arguments to the browser", Unit: "B", Tolerance: 10},
		{ID: "hub-ratio", Description: "time of a run through the WebSocket hub, as a multiple of a bare echo", Unit: "x", Tolerance: 0.25},
	}, measure: func(ctx context.Context, _ string) ([]float64, error) {
		costs, err := measureSmokeHub(ctx)
		return []float64{costs.dispatchBytes, costs.ratio}, err
	}},
	{rows: []smoke.Row{
		{ID: "report-ratio", Description: "time of a progress report in dispatch, as a multiple of the time to lock a mutex and read the clock", Unit: "x", Tolerance: 1.5},
	}, measure: func(ctx context.Context, _ string) ([]float64, error) {
		ratio, err := measureSmokeReports(ctx)
		return []float64{ratio}, err
	}},
	{rows: []smoke.Row{
		{ID: "registrations", Description: "scripts that the extension registers in Chrome for 120 plugins", Tolerance: 0},
		{ID: "port-bytes", Description: "bytes of the message that sends a call without arguments from the worker to the page", Unit: "B", Tolerance: 10},
		{ID: "result-bytes", Description: "bytes of the frame that sends an empty result to the server", Unit: "B", Tolerance: 10},
	}, measure: func(ctx context.Context, _ string) ([]float64, error) { return countExtensionMessages(ctx) }},
	{rows: []smoke.Row{
		{ID: "idle-goroutines", Description: "goroutines of an idle server", Tolerance: 3},
		{ID: "idle-memory", Description: "resident memory of an idle server", Unit: "MB", Tolerance: 2.5},
		{ID: "idle-private", Description: "resident memory of an idle server without file pages", Unit: "MB", Tolerance: 1.5},
	}, measure: measureIdleServer, needsLinux: true},
	{rows: []smoke.Row{
		{ID: "init-allocs", Description: "allocations before the first statement of the program", Tolerance: 200},
		{ID: "size", Description: "size of the program", Unit: "MB", Tolerance: 0.5},
	}, measure: measureProgramSize},
}

func runSmoke(ctx context.Context, stdout io.Writer, shouldUpdate bool) error {
	lastRows, err := smoke.Read(smokeFile)
	if err != nil {
		return err
	}
	var measuredRows []smoke.Row
	for _, smokeGroup := range smokeGroups {
		if smokeGroup.needsLinux && runtime.GOOS != "linux" {
			fmt.Fprintf(stdout, "not measured on %s: %s\n", runtime.GOOS, strings.Join(smokeGroup.ids(), ", "))
			lastRows = slices.DeleteFunc(lastRows, func(smokeRow smoke.Row) bool { return slices.Contains(smokeGroup.ids(), smokeRow.ID) })
			continue
		}
		rows, err := measureSmokeGroup(ctx, smokeGroup, lastRows)
		if err != nil {
			return fmt.Errorf("measure the row %s: %w", smokeGroup.rows[0].ID, err)
		}
		measuredRows = append(measuredRows, rows...)
	}
	fmt.Fprint(stdout, smoke.Table(lastRows, measuredRows))
	if shouldUpdate && runtime.GOOS != "linux" {
		return errors.New("the file of last values can be updated on Linux only, because other systems cannot measure all rows")
	}
	if shouldUpdate {
		return smoke.Write(smokeFile, smoke.Update(lastRows, measuredRows, time.Now().UTC().Format(time.DateOnly)))
	}
	result := smoke.Compare(lastRows, measuredRows, func(id string) string { return smoke.CommitsSince(ctx, smokeFile, id) })
	for _, smokeRow := range result.Improvements {
		fmt.Fprintf(stdout, "row %q is better than its last value: run `make bench-smoke UPDATE=1`, so that the gain is kept\n", smokeRow.ID)
	}
	return result.Err()
}

func (g smokeGroup) ids() []string {
	ids := make([]string, 0, len(g.rows))
	for _, smokeRow := range g.rows {
		ids = append(ids, smokeRow.ID)
	}
	return ids
}

func measureSmokeGroup(ctx context.Context, measuredGroup smokeGroup, lastRows []smoke.Row) ([]smoke.Row, error) {
	rows := slices.Clone(measuredGroup.rows)
	for i := range rows {
		rows[i].Value = math.Inf(1)
	}
	for range smokeAttempts {
		dir, err := os.MkdirTemp("", "opentabs-smoke-")
		if err != nil {
			return nil, err
		}
		measuredValues, err := measureWithoutGC(ctx, measuredGroup, dir)
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			return nil, err
		}
		isWorse := false
		for i, rowValue := range measuredValues {
			rows[i].Value = min(rows[i].Value, math.Round(rowValue*100)/100)
			isWorse = isWorse || smoke.IsWorse(lastRows, rows[i])
		}
		if !isWorse {
			break
		}
	}
	return rows, nil
}

// measureWithoutGC measures a group with the garbage collector off, because
// garbage collections would change times and allocation counts.
func measureWithoutGC(ctx context.Context, measuredGroup smokeGroup, dir string) ([]float64, error) {
	debug.FreeOSMemory()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	return measuredGroup.measure(ctx, dir)
}

func countExtensionMessages(ctx context.Context) ([]float64, error) {
	cmd := exec.CommandContext(ctx, "node_modules/.bin/tsx", "extension/test/smoke-counts.ts")
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	var counts struct {
		Registrations float64 `json:"registrations"`
		PortBytes     float64 `json:"portBytes"`
		FrameBytes    float64 `json:"frameBytes"`
	}
	if err := json.Unmarshal(output, &counts); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", cmd, err, output)
	}
	return []float64{counts.Registrations, counts.PortBytes, counts.FrameBytes}, nil
}
