package terminal

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	redrawInterval = 50 * time.Millisecond
	// barDelay is how long a call runs before its progress bar appears.
	barDelay = 250 * time.Millisecond
)

// Progress is one progress report of a call.
type Progress struct {
	Progress float64
	// The field Total is valid only if HasTotal is true.
	Total    float64
	HasTotal bool
	// Message is the tool's latest progress message, or empty to display none.
	Message string
}

// ProgressView displays the progress of one call. ProgressView is safe for concurrent
// use.
type ProgressView interface {
	// Update displays a progress report. After Close, Update does nothing.
	Update(p Progress)
	// Close removes the progress bar from the terminal.
	Close()
}

// ShowProgress returns a view that draws a progress bar on stderr. If stderr is not a terminal, the
// returned view writes a line for each progress report instead of a bar.
func (o *Output) ShowProgress(label string) ProgressView {
	if !o.stderr.isTerminal {
		return &lineView{terminalOut: o}
	}
	return startBar(o, Bar{Label: label})
}

// ShowWaiting returns a view that draws a line on stderr for a call that waits for the user. The
// line that ShowWaiting draws contains waitingText, such as "waiting for approval". If stderr is
// not a terminal, ShowWaiting returns NoProgress, which displays nothing.
func ShowWaiting(o *Output, label, waitingText string) ProgressView {
	if !o.stderr.isTerminal {
		return NoProgress
	}
	return startBar(o, Bar{Label: label, WaitingText: waitingText})
}

func startBar(o *Output, bar Bar) *barView {
	v := &barView{
		terminalOut: o, bar: bar, startTime: time.Now(), stop: make(chan struct{}), hasStopped: make(chan struct{}),
	}
	go v.run()
	return v
}

// NoProgress is a [ProgressView] that displays nothing.
var NoProgress ProgressView = noProgress{}

type noProgress struct{}

func (noProgress) Update(Progress) {}
func (noProgress) Close()          {}

// lineView writes a line for each progress report whose message or numbers are new.
type lineView struct {
	terminalOut *Output

	mu      sync.Mutex // the mutex guards the field numbers
	numbers string
}

func (v *lineView) Update(p Progress) {
	b := Bar{Progress: p.Progress, Total: p.Total, HasTotal: p.HasTotal, HasReport: true}
	numbers := strings.Join(strings.Fields(b.Numbers()), " ")
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.Message == "" && numbers == v.numbers {
		return
	}
	v.numbers = numbers
	v.terminalOut.Notef("%s", strings.Join(strings.Fields("progress "+numbers+" "+SafeLine(p.Message)), " "))
}

func (v *lineView) Close() {}

// barView draws a progress bar in the last line of the terminal.
type barView struct {
	terminalOut *Output
	startTime   time.Time
	stop        chan struct{}
	hasStopped  chan struct{}
	once        sync.Once

	mu  sync.Mutex // the mutex guards the field bar
	bar Bar

	// Only the goroutine that runs the method run uses visibleLine and shownWidth.
	visibleLine string
	shownWidth  int
}

func (v *barView) Update(p Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.bar.Progress, v.bar.Total, v.bar.HasTotal, v.bar.HasReport = p.Progress, p.Total, p.HasTotal, true
	if p.Message != "" {
		v.bar.Message = p.Message
	}
}

func (v *barView) Close() {
	v.once.Do(func() { close(v.stop) })
	<-v.hasStopped
}

func (v *barView) run() {
	defer close(v.hasStopped)
	ticker := time.NewTicker(redrawInterval)
	defer ticker.Stop()
	for {
		select {
		case <-v.stop:
			v.redrawLine("")
			return
		case <-ticker.C:
		}
		v.mu.Lock()
		v.bar.Elapsed = time.Since(v.startTime)
		bar := v.bar
		v.mu.Unlock()
		if bar.Elapsed < barDelay && !bar.HasReport {
			continue
		}
		// The last column of the terminal stays free, because some terminals wrap a full line.
		columns, _ := v.terminalOut.stderr.size()
		v.redrawLine(bar.Draw(columns-1, v.terminalOut.glyphSet))
	}
}

// If the terminal has become narrower and has wrapped the old progress bar, replace clears all rows of the old bar.
func (v *barView) redrawLine(line string) {
	if line == v.visibleLine {
		return
	}
	columns, _ := v.terminalOut.stderr.size()
	terminalCodes := "\r"
	if wrappedRows := (v.shownWidth - 1) / columns; wrappedRows > 0 {
		terminalCodes += fmt.Sprintf("\x1b[%dA\x1b[J", wrappedRows)
		v.shownWidth = 0
	}
	width := textWidth(line)
	padding := max(0, v.shownWidth-width)
	terminalCodes += line + strings.Repeat(" ", padding)
	if line == "" {
		terminalCodes += "\r"
	}
	fmt.Fprint(v.terminalOut.stderr, terminalCodes)
	v.visibleLine, v.shownWidth = line, width+padding
}
