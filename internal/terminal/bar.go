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
	// HasTotal is set if Total is known. While no total is known, a spinner is drawn
	// instead of the bar.
	HasTotal bool
	// HasReport is set after the first progress report.
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
	maxBarWidth     = 30 // in columns
	minBarWidth     = 6
	minMessageWidth = 8
	spinnerStep     = 100 * time.Millisecond
	barSeparator    = "  "
)

// Draw returns the bar as one line of at most width columns. In a narrow terminal Draw
// omits the message first, then the label, then the bar itself.
func (b Bar) Draw(width int, g Glyphs) string {
	numbers, elapsed := b.Numbers(), Elapsed(b.Elapsed)
	separatorWidth := len(barSeparator)
	label := SafeLine(b.Label)
	minWidth := textWidth(numbers) + separatorWidth + textWidth(elapsed)
	if width < minWidth {
		return truncateColumns(numbers, width)
	}
	barWidth := 0
	switch {
	case !b.HasTotal:
		barWidth = 1
	case width >= minWidth+separatorWidth+minBarWidth:
		barWidth = min(maxBarWidth, max(minBarWidth, (width-minWidth-separatorWidth)/3))
	}
	if barWidth > 0 && width >= minWidth+separatorWidth+barWidth {
		minWidth += separatorWidth + barWidth
	} else {
		barWidth = 0
	}
	if label != "" && width >= minWidth+separatorWidth+textWidth(label) {
		minWidth += separatorWidth + textWidth(label)
	} else {
		label = ""
	}
	message := ""
	if messageWidth := width - minWidth - separatorWidth; messageWidth >= minMessageWidth {
		message = truncateColumns(SafeLine(b.Message), messageWidth)
	}
	var parts []string
	for _, part := range []string{label, b.drawGraph(barWidth, g), numbers, elapsed, message} {
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
	fullCells := int(math.Floor(b.doneFraction() * float64(width)))
	return strings.Repeat(g.full, fullCells) + strings.Repeat(g.empty, width-fullCells)
}

// Span draws a part of a line that is width cells wide. The numbers start and end are
// fractions from 0 to 1. Span draws at least one cell.
func (g Glyphs) Span(width int, start, end float64) string {
	first := min(int(start*float64(width)), width-1)
	last := max(int(end*float64(width)), first+1)
	return strings.Repeat(" ", first) + strings.Repeat(g.full, last-first)
}

// doneFraction returns how much is done, from 0 to 1.
func (b Bar) doneFraction() float64 {
	if b.Total <= 0 {
		return 1
	}
	return min(1, max(0, b.Progress/b.Total))
}

// minShownCount is the least progress without a total that is shown. Smaller values of
// Progress only order the messages that come before the first count.
const minShownCount = 0.001

// Numbers returns the percentage and the count of a bar, as far as they are known. The
// returned text is empty if the tool has reported no numbers.
func (b Bar) Numbers() string {
	switch {
	case !b.HasReport:
		return "no progress yet"
	case !b.HasTotal && b.Progress < minShownCount:
		return ""
	case !b.HasTotal:
		return Number(b.Progress)
	case b.Total == 100 || b.Total == 1:
		return Percent(b.doneFraction())
	}
	return fmt.Sprintf("%s  %s/%s", Percent(b.doneFraction()), Number(b.Progress), Number(b.Total))
}
