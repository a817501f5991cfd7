package terminal

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Bar is the state of a progress bar.
type Bar struct {
	Label    string
	Progress float64
	Total    float64
	// HasTotal is set if Total is known. Without a total a spinner is drawn.
	HasTotal bool
	// HasReport is set after the first report.
	HasReport bool
	Message   string
	Elapsed   time.Duration
}

// Glyphs are the characters that a bar is drawn with.
type Glyphs struct {
	full, empty string
	spinner     []string
}

// ASCIIGlyphs and unicodeGlyphs are the sets of characters for bars.
var (
	unicodeGlyphs = Glyphs{"█", "░", strings.Split("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "")}
	ASCIIGlyphs   = Glyphs{"#", ".", strings.Split(`|/-\`, "")}
)

const (
	maxBar       = 30 // columns
	minBar       = 6
	minMessage   = 8
	spinnerStep  = 100 * time.Millisecond
	barSeparator = "  "
)

// Draw returns the bar as one line of at most width columns. In a narrow terminal
// it omits the message first, then the label, then the bar itself.
func (b Bar) Draw(width int, g Glyphs) string {
	numbers, elapsed := b.Numbers(), Elapsed(b.Elapsed)
	gap := len(barSeparator)
	label := SafeLine(b.Label)
	need := textWidth(numbers) + gap + textWidth(elapsed)
	if width < need {
		return truncateColumns(numbers, width)
	}
	bar := 0
	switch {
	case !b.HasTotal:
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
		message = truncateColumns(SafeLine(b.Message), room)
	}
	var parts []string
	for _, part := range []string{label, b.drawGraph(bar, g), numbers, elapsed, message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, barSeparator)
}

// drawGraph draws the bar itself, or the spinner while no total is known.
func (b Bar) drawGraph(width int, g Glyphs) string {
	switch {
	case width == 0:
		return ""
	case !b.HasTotal:
		return g.spinner[int(b.Elapsed/spinnerStep)%len(g.spinner)]
	}
	full := int(math.Floor(b.donePart() * float64(width)))
	return strings.Repeat(g.full, full) + strings.Repeat(g.empty, width-full)
}

// donePart returns how much is done, from 0 to 1.
func (b Bar) donePart() float64 {
	if b.Total <= 0 {
		return 1
	}
	return min(1, max(0, b.Progress/b.Total))
}

// leastCount is the least progress without a total that is shown. Smaller values
// only order the messages that come before the first count.
const leastCount = 0.001

// Numbers returns the percentage and the count, as far as they are known. The text is
// empty if the tool has reported no numbers.
func (b Bar) Numbers() string {
	switch {
	case !b.HasReport:
		return "no progress yet"
	case !b.HasTotal && b.Progress < leastCount:
		return ""
	case !b.HasTotal:
		return Number(b.Progress)
	case b.Total == 100 || b.Total == 1:
		return Percent(b.donePart())
	}
	return fmt.Sprintf("%s  %s/%s", Percent(b.donePart()), Number(b.Progress), Number(b.Total))
}
