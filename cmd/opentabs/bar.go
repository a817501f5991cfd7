package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// barState is what a progress bar shows.
type barState struct {
	label    string
	progress float64
	total    float64
	// known is set if there is a total, so that there is a part to show.
	known bool
	// counted is set once there was any report.
	counted bool
	message string
	elapsed time.Duration
}

// glyphs are the characters a bar is drawn with.
type glyphs struct {
	full, empty string
	spinner     []string
}

var (
	unicodeGlyphs = glyphs{"█", "░", strings.Split("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "")}
	asciiGlyphs   = glyphs{"#", ".", strings.Split(`|/-\`, "")}
)

const (
	maxBar       = 30 // columns
	minBar       = 6
	minMessage   = 8
	spinnerStep  = 100 * time.Millisecond
	barSeparator = "  "
)

// draw returns the bar as one line of at most width columns. What there is no
// room for is left out: the message first, then the label, then the bar itself.
func (s barState) draw(width int, g glyphs) string {
	numbers, elapsed := s.numbers(), spell(s.elapsed)
	gap := len(barSeparator)
	label := oneLine(s.label)
	need := textWidth(numbers) + gap + textWidth(elapsed)
	if width < need {
		return fit(numbers, width)
	}
	bar := 0
	switch {
	case !s.known:
		bar = 1
	case width >= need+gap+minBar:
		bar = min(maxBar, max(minBar, (width-need-gap)/3))
	}
	if bar > 0 && width >= need+gap+bar {
		need += gap + bar
	} else {
		bar = 0
	}
	if label != "" && width >= need+gap+textWidth(label) {
		need += gap + textWidth(label)
	} else {
		label = ""
	}
	message := ""
	if room := width - need - gap; room >= minMessage {
		message = fit(oneLine(s.message), room)
	}
	var parts []string
	for _, part := range []string{label, s.graph(bar, g), numbers, elapsed, message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, barSeparator)
}

// graph draws the bar, or the spinner while nobody knows how far it is.
func (s barState) graph(width int, g glyphs) string {
	switch {
	case width == 0:
		return ""
	case !s.known:
		return g.spinner[int(s.elapsed/spinnerStep)%len(g.spinner)]
	}
	full := int(math.Floor(s.part() * float64(width)))
	return strings.Repeat(g.full, full) + strings.Repeat(g.empty, width-full)
}

// part is how much is done, from 0 to 1.
func (s barState) part() float64 {
	if s.total <= 0 {
		return 1
	}
	return min(1, max(0, s.progress/s.total))
}

// leastCount is the least progress without a total that is shown. What is below
// is no count: it is how the server numbers messages before the first count.
const leastCount = 0.001

// numbers is the percentage and the count, or as much as is known of them; empty
// if the tool has reported no numbers.
func (s barState) numbers() string {
	switch {
	case !s.counted:
		return "no progress yet"
	case !s.known && s.progress < leastCount:
		return ""
	case !s.known:
		return number(s.progress)
	case s.total == 100 || s.total == 1:
		return percent(s.part())
	}
	return fmt.Sprintf("%s  %s/%s", percent(s.part()), number(s.progress), number(s.total))
}

// percent rounds down: 100 % is told when all is done, not before.
func percent(part float64) string {
	return fmt.Sprintf("%3d%%", int(math.Floor(part*100+1e-9)))
}

// number prints a count as people write it, without the small steps by which the
// server tells messages between two counts apart.
func number(f float64) string {
	abs, whole := math.Abs(f), math.Round(f)
	if abs < 1e15 && (f == whole || abs >= 1000 || abs >= 1 && math.Abs(f-whole) < 0.001) {
		return strconv.FormatFloat(whole, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// spell prints a time with as much detail as helps.
func spell(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
