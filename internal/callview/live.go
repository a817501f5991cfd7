package callview

import (
	"opentabs/dispatch"
	"opentabs/internal/terminal"
	"time"
)

// liveCall shows the details of a call in a terminal and redraws them in place.
type liveCall struct {
	terminalOut  *terminal.Output
	verbose      bool
	block        *terminal.RedrawableBlock
	view         *dispatch.View
	viewReadTime time.Time
}

func newLiveCall(terminalOut *terminal.Output, verbose bool) *liveCall {
	return &liveCall{terminalOut: terminalOut, verbose: verbose, block: terminalOut.NewRedrawableBlock()}
}

func (l *liveCall) begin(v dispatch.View) error {
	l.show(v)
	return nil
}

func (l *liveCall) show(v dispatch.View) {
	l.view, l.viewReadTime = &v, time.Now()
	l.redraw(l.viewReadTime)
}

func (l *liveCall) showEvent(dispatch.Event, []byte) error { return nil }
func (l *liveCall) showMissedCount(int)                    {}
func (l *liveCall) pauseDuration() time.Duration           { return redrawInterval }

func (l *liveCall) redraw(now time.Time) {
	if l.view == nil {
		return
	}
	columns, rowCount := l.terminalOut.Size()
	s := callDetails{view: *l.view, verbose: l.verbose, columns: columns, glyphSet: l.terminalOut.Glyphs(), now: now, viewReadTime: l.viewReadTime}
	l.block.Draw(s.renderLines(rowCount - 1))
}

func (l *liveCall) showEnd(v *dispatch.View) {
	l.block.Clear()
	if v != nil {
		l.terminalOut.PrintEscapedLines(newCallDetails(l.terminalOut, *v, l.verbose).renderLines(0)...)
	}
}

const plainPrintInterval = time.Second

// plainTextCall prints a call line by line, for output that is not a terminal.
type plainTextCall struct {
	terminalOut   *terminal.Output
	verbose       bool
	printedLines  map[string][]string
	hasPrintedEnd bool
}

func (p *plainTextCall) begin(v dispatch.View) error {
	s := newCallDetails(p.terminalOut, v, p.verbose)
	p.hasPrintedEnd = v.Ended != nil
	p.terminalOut.PrintEscapedLines(s.renderLines(0)...)
	for _, a := range v.Activities {
		p.printedLines[a.Type] = terminal.ContentLines(a.Type, a.Content, s.columns > 0)
	}
	return nil
}

func (p *plainTextCall) showEvent(e dispatch.Event, _ []byte) error {
	p.hasPrintedEnd = p.hasPrintedEnd || e.Kind == dispatch.EventEnded
	hasReport := e.Kind == dispatch.EventProgress || e.Kind == dispatch.EventActivity
	if e.Kind != dispatch.EventActivity && (!hasReport || p.verbose || e.IsForUser()) {
		p.terminalOut.PrintText(e.Time.Local().Format(clockTime) + "  " + EventText(e, p.verbose))
	}
	return nil
}

func (p *plainTextCall) showMissedCount(n int) {
	p.terminalOut.Notef("%s were missed", terminal.CountNoun(n, "event"))
}
func (p *plainTextCall) redraw(time.Time)             {}
func (p *plainTextCall) pauseDuration() time.Duration { return plainPrintInterval }

func (p *plainTextCall) show(v dispatch.View) {
	s := newCallDetails(p.terminalOut, v, p.verbose)
	shownActivities, _ := s.shownActivities()
	for _, a := range shownActivities {
		lines, oldLines := terminal.ContentLines(a.Type, a.Content, s.columns > 0), p.printedLines[a.Type]
		unchangedLineCount := 0
		for unchangedLineCount < len(lines) && unchangedLineCount < len(oldLines) && lines[unchangedLineCount] == oldLines[unchangedLineCount] {
			unchangedLineCount++
		}
		if unchangedLineCount == len(lines) && unchangedLineCount == len(oldLines) {
			continue
		}
		p.printedLines[a.Type] = lines
		activityHeading := formatActivityHeading(a)
		switch {
		case unchangedLineCount > 0 && unchangedLineCount == len(oldLines):
			activityHeading += ", more"
		case unchangedLineCount > 0 || len(oldLines) > 0:
			activityHeading += ", changed from line " + terminal.FormatNumber(float64(unchangedLineCount+1))
		}
		p.terminalOut.PrintEscapedLines(activityHeading)
		for _, line := range lines[unchangedLineCount:] {
			p.terminalOut.PrintEscapedLines("  " + line)
		}
	}
}

func (p *plainTextCall) showEnd(v *dispatch.View) {
	if v == nil {
		return
	}
	p.show(*v)
	if v.Ended != nil && !p.hasPrintedEnd { // the event for the end of the call was lost
		p.terminalOut.PrintEscapedLines(fieldLine("status", newCallDetails(p.terminalOut, *v, p.verbose).statusLine()))
	}
}

// jsonCall prints the state of a call, and then each event of the call, as JSON on one
// line each.
type jsonCall struct{ terminalOut *terminal.Output }

func (j jsonCall) begin(v dispatch.View) error {
	return j.terminalOut.PrintValueLine(v)
}

func (j jsonCall) showEvent(_ dispatch.Event, rawJSON []byte) error {
	return j.terminalOut.PrintJSONLine(rawJSON)
}
func (j jsonCall) showMissedCount(n int) {
	j.terminalOut.Notef("%s were missed", terminal.CountNoun(n, "event"))
}
func (jsonCall) show(dispatch.View)           {}
func (jsonCall) redraw(time.Time)             {}
func (jsonCall) showEnd(*dispatch.View)       {}
func (jsonCall) pauseDuration() time.Duration { return time.Second }
