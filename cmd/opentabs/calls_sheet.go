package main

import (
	"fmt"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

// callSheet is all that is shown of one call. Its lines hold nothing that a
// terminal obeys.
type callSheet struct {
	view dispatch.View
	// verbose shows what is not meant for people too.
	verbose bool
	// columns is the width of the terminal; 0 for a pipe, which gets a plain line
	// in the place of the bar, and every cell of a table whole.
	columns int
	glyphs  terminal.Glyphs
	now     time.Time
	// read is when the view was made: a call that runs has run since.
	read time.Time
}

// sheetLabel is how wide the names in front of the first lines are.
const sheetLabel = 9

func field(label, text string) string { return fmt.Sprintf("%-*s  %s", sheetLabel, label, text) }

// lines are the whole sheet: first what the call is, then its way, then what its
// tool shows. room is how many lines there are for the activities, 0 for all.
func (s callSheet) lines(room int) []string {
	lines := append(s.head(), s.timeline()...)
	lines = append(lines, s.question()...)
	if room > 0 {
		room = max(1, room-len(lines))
	}
	return append(lines, s.activities(room)...)
}

func (s callSheet) head() []string {
	v := s.view
	tool := terminal.SafeLine(v.ToolName)
	if v.Prompt {
		tool += " (prompt)"
	}
	lines := []string{field("call", v.CallID), field("tool", tool), field("status", s.status())}
	if who := v.Who().String(); who != "" {
		lines = append(lines, field("client", terminal.SafeLine(who)))
	}
	if v.ParentCallID != "" {
		lines = append(lines, field("made by", v.ParentCallID))
	}
	if by := v.Caller; by != nil {
		lines = append(lines, field("caller", terminal.SafeLine(callerPlace(by))))
	}
	if v.TabID != 0 {
		lines = append(lines, field("tab", fmt.Sprintf("%d of %s", v.TabID, terminal.SafeLine(v.Browser))))
	}
	if v.Error != "" {
		lines = append(lines, field("error", terminal.SafeLine(v.Error)))
	}
	if result := v.ShownResult(s.verbose); result != "" {
		lines = append(lines, field("result", terminal.SafeLine(result)))
	}
	if progress := s.progress(); progress != "" {
		lines = append(lines, field("progress", progress))
	}
	return lines
}

func (s callSheet) status() string {
	v := s.view
	switch {
	case v.Waiting != nil:
		return "suspended, waits for " + waitsFor(*v.Waiting, s.now)
	case v.Ended != nil:
		return fmt.Sprintf("%s after %s, %s", callStatus(v), terminal.Elapsed(s.ran()), terminal.Plural(v.Reports, "report"))
	case v.Status == wire.StatusRunning:
		return fmt.Sprintf("running for %s, %s", terminal.Elapsed(s.ran()), terminal.Plural(v.Reports, "report"))
	}
	return callStatus(v)
}

// ran is how long the call has run by now.
func (s callSheet) ran() time.Duration {
	d := ran(s.view)
	if s.view.Ended == nil && s.view.Waiting == nil && s.view.Status == wire.StatusRunning {
		d += max(0, s.now.Sub(s.read))
	}
	return d
}

// progress is the bar, or the same in words for a pipe; empty where there is
// nothing to tell.
func (s callSheet) progress() string {
	v, bar := s.view, terminal.Bar{Elapsed: s.ran()}
	part := v.Progress
	bar.Message = messageWithStatus(v.UserStatusWord, v.UserMessage)
	if s.verbose {
		bar.Message = messageWithStatus(v.StatusWord, v.Message)
	}
	switch {
	case part != nil && v.Total != nil:
		bar.Progress, bar.Total = *part**v.Total, *v.Total
	case part != nil:
		bar.Progress, bar.Total = *part, 1
	case v.Loaded != nil:
		bar.Progress = *v.Loaded
	}
	bar.HasTotal, bar.HasReport = part != nil, part != nil || v.Loaded != nil
	live := s.columns > 0 && v.Status == wire.StatusRunning
	switch {
	case live:
		return bar.Draw(s.columns-1-sheetLabel-2, s.glyphs)
	case !bar.HasReport:
		return terminal.SafeLine(bar.Message)
	}
	return strings.Join(strings.Fields(bar.Numbers()+" "+terminal.SafeLine(bar.Message)), " ")
}

func (s callSheet) timeline() []string {
	lines := []string{"timeline"}
	for _, m := range s.view.Timeline {
		text := terminal.SafeLine(string(m.Kind))
		switch m.Kind {
		case dispatch.EventSuspended:
			text = "suspended: " + terminal.SafeLine(m.Reason)
		case dispatch.EventResumed:
			text = resolutionText(m.Resolution)
		case dispatch.EventEnded:
			text = callStatus(s.view)
		case dispatch.EventStopped:
			text = fmt.Sprintf("the page answered the stop: %s", s.view.Stopped)
		}
		lines = append(lines, "  "+m.Time.Local().Format(clockTime)+"  "+text)
	}
	return lines
}

// question is what the call waits for, and how to answer.
func (s callSheet) question() []string {
	w := s.view.Waiting
	if w == nil {
		return nil
	}
	lines := []string{"question"}
	for _, text := range []string{w.Title, w.Reason} {
		if text != "" {
			lines = append(lines, "  "+terminal.SafeLine(text))
		}
	}
	lines = append(lines, s.arguments(*w)...)
	yes, no := "to allow it", "to refuse it"
	if w.Kind == wire.TicketUser {
		yes, no = "when done", "to stop it"
	}
	lines = append(lines,
		fmt.Sprintf("  %-12s  opentabs calls approve %s", yes, s.view.CallID),
		fmt.Sprintf("  %-12s  opentabs calls deny %s", no, s.view.CallID))
	if len(w.Scopes) > 1 {
		lines = append(lines, "  it can be allowed "+offers(w.Scopes))
	}
	return lines
}

// arguments are those of a call that waits for a permission.
func (s callSheet) arguments(w dispatch.Waiting) []string {
	if w.Args == "" || w.Kind == wire.TicketUser {
		return nil
	}
	lines := []string{"  arguments"}
	for _, line := range terminal.JSONLines(w.Args) {
		lines = append(lines, "    "+line)
	}
	if w.ArgsBytes > len(w.Args) {
		lines = append(lines, fmt.Sprintf("    ... cut: all of it is %s", terminal.ByteSize(w.ArgsBytes)))
	}
	return lines
}

// shown are the activities that are shown; hidden counts the others.
func (s callSheet) shown() (shown []dispatch.ActivityView, hidden int) {
	for _, a := range s.view.Activities {
		if s.verbose || a.Audience == dispatch.AudienceUser {
			shown = append(shown, a)
		} else {
			hidden++
		}
	}
	return shown, hidden
}

// activities draws what the tool shows, in at most room lines; 0 is for all.
func (s callSheet) activities(room int) []string {
	shown, hidden := s.shown()
	var lines []string
	for i, a := range shown {
		lines = append(lines, activityHead(a))
		drawn := terminal.ContentLines(a.Type, a.Content, s.columns > 0)
		if room > 0 {
			// Those that come after it need a line for each name, and the last line is for what is hidden.
			after := len(shown) - i - 1
			drawn = squeeze(a.Type, drawn, max(2, (room-1-len(lines)-after)/(after+1)))
		}
		for _, line := range drawn {
			lines = append(lines, "  "+line)
		}
	}
	if hidden > 0 {
		lines = append(lines, terminal.Agree(hidden, "activity is", "activities are")+" not meant for people: --verbose shows all")
	}
	return lines
}

func activityHead(a dispatch.ActivityView) string {
	head := "activity " + terminal.SafeLine(a.Type)
	if a.Audience != dispatch.AudienceUser {
		head += " (not meant for people)"
	}
	if a.Dropped > 0 {
		head += fmt.Sprintf(", %s dropped: too large, or did not apply", terminal.Plural(a.Dropped, "change"))
	}
	return head
}

// squeeze cuts lines to room of them, the note that says so among them. Of what
// grows at its end the end is kept.
func squeeze(kind string, lines []string, room int) []string {
	if len(lines) <= room {
		return lines
	}
	left := len(lines) - room + 1
	if kind == "table" || kind == "json" {
		return append(lines[:room-1:room-1], fmt.Sprintf("... %s more", terminal.Plural(left, "line")))
	}
	return append([]string{fmt.Sprintf("... %s above", terminal.Plural(left, "line"))}, lines[left:]...)
}
