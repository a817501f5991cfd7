package terminal

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Bar is the content of a progress bar that is drawn as one line.
type Bar struct {
	Label    string
	Progress float64
	Total    float64
	// HasTotal is true if Total is known. While no total is known, a spinner replaces the
	// bar.
	HasTotal bool
	// HasReport is true after the first progress report.
	HasReport bool
	// WaitingText is displayed instead of the progress numbers while the call waits for the user,
	// such as "waiting for approval".
	WaitingText string
	Message     string
	Elapsed     time.Duration
}

// Glyphs are the characters for drawing bars and spinners.
type Glyphs struct {
	fullGlyph, emptyGlyph string
	spinnerFrames         []string
}

// ASCIIGlyphs are for locales without UTF-8, and unicodeGlyphs for all other locales.
var (
	unicodeGlyphs = Glyphs{"█", "░", strings.Split("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "")}
	ASCIIGlyphs   = Glyphs{"#", ".", strings.Split(`|/-\`, "")}
)

const (
	maxBarWidth     = 30
	minBarWidth     = 6
	minMessageWidth = 8
	spinnerStep     = 100 * time.Millisecond
	barSeparator    = "  "
)

// Draw returns the bar as one line of at most width columns. If the bar is too wide, Draw omits the message, then the
// label, then the graph.
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
	logMessage := ""
	if messageWidth := width - minWidth - separatorWidth; messageWidth >= minMessageWidth {
		logMessage = truncateColumns(SafeLine(b.Message), messageWidth)
	}
	var textParts []string
	for _, textPart := range []string{label, b.drawBarOrSpinner(barWidth, g), numbers, elapsed, logMessage} {
		if textPart != "" {
			textParts = append(textParts, textPart)
		}
	}
	return strings.Join(textParts, barSeparator)
}

func (b Bar) drawBarOrSpinner(width int, g Glyphs) string {
	switch {
	case width == 0:
		return ""
	case !b.HasTotal:
		return g.spinnerFrames[int(b.Elapsed/spinnerStep)%len(g.spinnerFrames)]
	}
	fullCells := int(math.Floor(b.completedFraction() * float64(width)))
	return strings.Repeat(g.fullGlyph, fullCells) + strings.Repeat(g.emptyGlyph, width-fullCells)
}

// DrawSpan draws a filled section of a line that is width columns wide, such as one period on a
// timeline. The parameters startFraction and endFraction are fractions from 0 to 1. DrawSpan
// fills at least one column, even if the period is very short.
func (g Glyphs) DrawSpan(width int, startFraction, endFraction float64) string {
	firstColumn := min(int(startFraction*float64(width)), width-1)
	lastColumn := max(int(endFraction*float64(width)), firstColumn+1)
	return strings.Repeat(" ", firstColumn) + strings.Repeat(g.fullGlyph, lastColumn-firstColumn)
}

func (b Bar) completedFraction() float64 {
	if b.Total <= 0 {
		return 1
	}
	return min(1, max(0, b.Progress/b.Total))
}

// minDisplayedProgress is the smallest progress that is displayed if the total is unknown. Progress messages before a tool's
// first count have tiny progress values, which only keep the messages in order.
const minDisplayedProgress = 0.001

// Numbers returns the percentage and the count, such as "40% 4/10". If the tool has sent only
// reports without numbers, Numbers returns an empty string.
func (b Bar) Numbers() string {
	switch {
	case b.WaitingText != "":
		return b.WaitingText
	case !b.HasReport:
		return "no progress yet"
	case !b.HasTotal && b.Progress < minDisplayedProgress:
		return ""
	case !b.HasTotal:
		return FormatNumber(b.Progress)
	case b.Total == 100 || b.Total == 1:
		return FormatPercent(b.completedFraction())
	}
	return fmt.Sprintf("%s  %s/%s", FormatPercent(b.completedFraction()), FormatNumber(b.Progress), FormatNumber(b.Total))
}
