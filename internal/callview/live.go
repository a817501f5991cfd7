package callview

import (
	"opentabs/dispatch"
	"opentabs/internal/terminal"
	"time"
)

// liveCall shows a call as a sheet that is redrawn in place.
type liveCall struct {
	out     *terminal.Output
	verbose bool
	block   *terminal.Block
	view    *dispatch.View
	read    time.Time
}

func newLiveCall(out *terminal.Output, verbose bool) *liveCall {
	return &liveCall{out: out, verbose: verbose, block: out.NewBlock()}
}

func (l *liveCall) begin(v dispatch.View) error {
	l.show(v)
	return nil
}

func (l *liveCall) show(v dispatch.View) {
	l.view, l.read = &v, time.Now()
	l.tick(l.read)
}

func (l *liveCall) event(dispatch.Event, []byte) error { return nil }
func (l *liveCall) missed(int)                         {}
func (l *liveCall) pause() time.Duration               { return watchTick }

// tick draws the sheet as of now.
func (l *liveCall) tick(now time.Time) {
	if l.view == nil {
		return
	}
	columns, rows := l.out.Size()
	s := sheet{view: *l.view, verbose: l.verbose, columns: columns, glyphs: l.out.Glyphs(), now: now, read: l.read}
	l.block.Draw(s.renderLines(rows - 1))
}

// end prints the complete sheet, including lines that did not fit on the screen.
func (l *liveCall) end(v *dispatch.View) {
	l.block.Clear()
	if v != nil {
		l.out.PrintSafeLines(newSheet(l.out, *v, l.verbose).renderLines(0)...)
	}
}

// plainPause is the least time between two prints of an activity that changes.
const plainPause = time.Second

// plainCall prints a call line by line, for a pipe.
type plainCall struct {
	out     *terminal.Output
	verbose bool
	// drawn has the last printed lines of each activity.
	drawn map[string][]string
	// ended is set once the end of the call was printed.
	ended bool
}

func (p *plainCall) begin(v dispatch.View) error {
	s := newSheet(p.out, v, p.verbose)
	p.ended = v.Ended != nil
	p.out.PrintSafeLines(s.renderLines(0)...)
	for _, a := range v.Activities {
		p.drawn[a.Type] = terminal.ContentLines(a.Type, a.Content, s.columns > 0)
	}
	return nil
}

// event prints an event. event omits reports that are not for the user, and activities,
// which show prints.
func (p *plainCall) event(e dispatch.Event, _ []byte) error {
	p.ended = p.ended || e.Kind == dispatch.EventEnded
	report := e.Kind == dispatch.EventProgress || e.Kind == dispatch.EventActivity
	if e.Kind != dispatch.EventActivity && (!report || p.verbose || e.ForUser()) {
		p.out.PrintText(e.Time.Local().Format(clockTime) + "  " + eventText(e, p.verbose))
	}
	return nil
}

func (p *plainCall) missed(n int)         { p.out.Notef("%s were missed", terminal.Plural(n, "event")) }
func (p *plainCall) tick(time.Time)       {}
func (p *plainCall) pause() time.Duration { return plainPause }

// show prints the activities that changed, each from its first changed line.
func (p *plainCall) show(v dispatch.View) {
	s := newSheet(p.out, v, p.verbose)
	shown, _ := s.shownActivities()
	for _, a := range shown {
		lines, before := terminal.ContentLines(a.Type, a.Content, s.columns > 0), p.drawn[a.Type]
		same := 0
		for same < len(lines) && same < len(before) && lines[same] == before[same] {
			same++
		}
		if same == len(lines) && same == len(before) {
			continue
		}
		p.drawn[a.Type] = lines
		head := activityHead(a)
		switch {
		case same > 0 && same == len(before):
			head += ", more"
		case same > 0 || len(before) > 0:
			head += ", changed from line " + terminal.Number(float64(same+1))
		}
		p.out.PrintSafeLines(head)
		for _, line := range lines[same:] {
			p.out.PrintSafeLines("  " + line)
		}
	}
}

// end prints the last activities and the end of the call.
func (p *plainCall) end(v *dispatch.View) {
	if v == nil {
		return
	}
	p.show(*v)
	if v.Ended != nil && !p.ended { // the event was lost
		p.out.PrintSafeLines(fieldLine("status", newSheet(p.out, *v, p.verbose).statusLine()))
	}
}

// jsonCall prints the call and then each event as JSON.
type jsonCall struct{ out *terminal.Output }

func (j jsonCall) begin(v dispatch.View) error {
	return j.out.PrintValueLine(v)
}

func (j jsonCall) event(_ dispatch.Event, raw []byte) error { return j.out.PrintJSONLine(raw) }
func (j jsonCall) missed(n int)                             { j.out.Notef("%s were missed", terminal.Plural(n, "event")) }
func (jsonCall) show(dispatch.View)                         {}
func (jsonCall) tick(time.Time)                             {}
func (jsonCall) end(*dispatch.View)                         {}
func (jsonCall) pause() time.Duration                       { return time.Second }
