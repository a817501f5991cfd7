package callview

import (
	"fmt"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/internal/terminal"
	"opentabs/internal/waterfall"
)

// PrintTiming prints where the time of a call went: one line for each phase with its start,
// its duration and, on a terminal, its bar.
func PrintTiming(out *terminal.Output, v dispatch.View, now time.Time) {
	columns := 0
	if out.IsTerminal() {
		columns, _ = out.Size()
	}
	out.PrintSafeLines(timingLines(v, now, columns, out.Glyphs())...)
}

// Timing is where the time of a call went, as JSON.
type Timing struct {
	CallID string        `json:"call_id"`
	Phases []TimingPhase `json:"phases"`
}

// TimingPhase is one phase of a call, in milliseconds since the call arrived.
type TimingPhase struct {
	Name    string  `json:"name"`
	StartMs float64 `json:"start_ms"`
	Ms      float64 `json:"ms"`
}

// NewTiming returns the phases of a call; now is the end of a call that has not ended.
func NewTiming(v dispatch.View, now time.Time) Timing {
	t := Timing{CallID: v.CallID, Phases: []TimingPhase{}}
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	for _, p := range waterfall.Phases(&v, now) {
		t.Phases = append(t.Phases, TimingPhase{p.Name, milliseconds(p.Start), milliseconds(p.Duration)})
	}
	return t
}

// timingLines returns the lines of PrintTiming for a terminal of this width; 0 is the width
// of a pipe, which gets no bars.
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
			line += "  " + g.Span(barWidth, float64(p.Start)/float64(total), float64(p.End())/float64(total))
		}
		lines = append(lines, line)
	}
	if v.Trace == nil {
		lines = append(lines, "  No trace: calls in quick succession are not traced, so only the waits and the run are known.")
	}
	return lines
}

// preciseDuration writes a duration with at least two digits, such as 0.2 ms, 12 ms and
// 3.5 s.
func preciseDuration(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return humanize.Duration(d)
}
