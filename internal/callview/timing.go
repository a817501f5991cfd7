package callview

import (
	"fmt"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/internal/terminal"
	"opentabs/internal/waterfall"
)

// PrintTiming prints how long each phase of a call took. Each phase of the call has a
// line with its start, its duration and, on a terminal, a bar.
func PrintTiming(terminalOut *terminal.Output, v dispatch.View, now time.Time) {
	columns := 0
	if terminalOut.IsTerminal() {
		columns, _ = terminalOut.Size()
	}
	terminalOut.PrintEscapedLines(timingLines(v, now, columns, terminalOut.Glyphs())...)
}

// CallTiming contains the durations of the phases of a call, for JSON output.
type CallTiming struct {
	CallID string `json:"call_id"`
	// TraceID is the trace ID that the client sent with the call; empty if the client
	// sent none.
	TraceID string        `json:"trace_id,omitempty"`
	Phases  []TimingPhase `json:"phases"`
}

// TimingPhase is one phase of a call, such as "waiting for approval". StartMs is the time
// from the arrival of the call to the start of the phase, and Ms is the phase's duration,
// both in milliseconds.
type TimingPhase struct {
	Name    string  `json:"name"`
	StartMs float64 `json:"start_ms"`
	Ms      float64 `json:"ms"`
}

// NewCallTiming returns how long each phase of a call took. If the call has not ended, its
// last phase ends at the time now.
func NewCallTiming(v dispatch.View, now time.Time) CallTiming {
	t := CallTiming{CallID: v.CallID, Phases: []TimingPhase{}}
	if v.Trace != nil {
		t.TraceID = v.Trace.TraceID
	}
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	for _, p := range waterfall.Phases(&v, now) {
		t.Phases = append(t.Phases, TimingPhase{p.Name, milliseconds(p.Start), milliseconds(p.Duration)})
	}
	return t
}

func timingLines(v dispatch.View, now time.Time, columns int, g terminal.Glyphs) []string {
	phases := waterfall.Phases(&v, now)
	var total time.Duration
	if n := len(phases); n > 0 {
		total = phases[n-1].End()
	}
	lines := []string{fmt.Sprintf("%s  %s  %s after %s", v.CallID, terminal.SafeLine(v.ToolName), statusText(v), preciseDuration(total))}
	for _, p := range phases {
		line := fmt.Sprintf("  %-*s  %9s  %9s", len("waiting for you"), p.Name, preciseDuration(p.Start), preciseDuration(p.Duration))
		if barWidth := columns - len(line) - 3; barWidth >= 10 && total > 0 {
			line += "  " + g.DrawSpan(barWidth, float64(p.Start)/float64(total), float64(p.End())/float64(total))
		}
		lines = append(lines, line)
	}
	if v.Trace == nil {
		lines = append(lines, "  No trace: calls in quick succession are not traced, so only the waits and the run are known.")
	} else if v.Trace.TraceID != "" {
		lines = append(lines, "  Trace ID of the client: "+v.Trace.TraceID)
	}
	return lines
}

func preciseDuration(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return humanize.Duration(d)
}
