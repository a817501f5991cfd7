package callview

import (
	"fmt"
	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/internal/terminal"
	"opentabs/wire"
	"strings"
	"time"
)

// callDetails formats the details of one call. Control characters in all lines of the
// details are escaped.
type callDetails struct {
	view     dispatch.View
	verbose  bool
	columns  int
	glyphSet terminal.Glyphs
	now      time.Time
	// viewReadTime is when view was read; for a running call, the time since viewReadTime is added to the run time.
	viewReadTime time.Time
}

const detailLabelWidth = 9

func fieldLine(label, fieldValue string) string {
	return fmt.Sprintf("%-*s  %s", detailLabelWidth, label, fieldValue)
}

func (s callDetails) renderLines(maxLines int) []string {
	lines := append(s.summaryLines(), s.timelineLines()...)
	lines = append(lines, s.questionLines()...)
	if maxLines > 0 {
		maxLines = max(1, maxLines-len(lines))
	}
	return append(lines, s.activityLines(maxLines)...)
}

func (s callDetails) summaryLines() []string {
	v := s.view
	tool := terminal.SafeLine(v.ToolName)
	if v.Prompt {
		tool += " (prompt)"
	}
	lines := []string{fieldLine("call", v.CallID), fieldLine("tool", tool), fieldLine("status", s.statusLine())}
	if clientName := v.ToClient().String(); clientName != "" {
		lines = append(lines, fieldLine("client", terminal.SafeLine(clientName)))
	}
	if v.ParentCallID != "" {
		lines = append(lines, fieldLine("made by", v.ParentCallID))
	}
	if caller := v.Caller; caller != nil {
		lines = append(lines, fieldLine("caller", terminal.SafeLine(CallerText(caller))))
	}
	if v.TabID != 0 {
		lines = append(lines, fieldLine("tab", fmt.Sprintf("%d of %s", v.TabID, browserText(v))))
	}
	if v.Error != "" {
		lines = append(lines, fieldLine("error", terminal.SafeLine(v.Error)))
	}
	if v.NextStep != "" {
		lines = append(lines, fieldLine("next step", terminal.SafeLine(v.NextStep)))
	}
	if result := v.ShownResult(s.verbose); result != "" {
		lines = append(lines, fieldLine("result", terminal.SafeLine(result)))
	}
	if progress := s.progressBar(); progress != "" {
		lines = append(lines, fieldLine("progress", progress))
	}
	return lines
}

func (s callDetails) statusLine() string {
	v := s.view
	switch {
	case v.Waiting != nil:
		return WaitingText(*v.Waiting) + ", " + timeLeftText(*v.Waiting, s.now) + " left"
	case v.Ended != nil:
		return fmt.Sprintf("%s%s, %s", endText(v), waitTimeText(v), terminal.CountNoun(v.ReportCount, "report"))
	case v.Status == wire.StatusRunning:
		return fmt.Sprintf("running for %s, %s", terminal.Elapsed(s.elapsedTime()), terminal.CountNoun(v.ReportCount, "report"))
	}
	return statusText(v)
}

func (s callDetails) elapsedTime() time.Duration {
	d := runTime(s.view)
	if s.view.Ended == nil && s.view.Waiting == nil && s.view.Status == wire.StatusRunning {
		d += max(0, s.now.Sub(s.viewReadTime))
	}
	return d
}

func (s callDetails) progressBar() string {
	v, bar := s.view, terminal.Bar{Elapsed: s.elapsedTime()}
	progress := v.Progress
	bar.Message = WithStatusWord(v.UserStatusWord, v.UserMessage)
	if s.verbose {
		bar.Message = WithStatusWord(v.StatusWord, v.Message)
	}
	switch {
	case progress != nil && v.Total != nil:
		bar.Progress, bar.Total = *progress**v.Total, *v.Total
	case progress != nil:
		bar.Progress, bar.Total = *progress, 1
	case v.Loaded != nil:
		bar.Progress = *v.Loaded
	}
	bar.HasTotal, bar.HasReport = progress != nil, progress != nil || v.Loaded != nil
	isLive := s.columns > 0 && v.Status == wire.StatusRunning
	switch {
	case isLive:
		return bar.Draw(s.columns-1-detailLabelWidth-2, s.glyphSet)
	case !bar.HasReport:
		return terminal.SafeLine(bar.Message)
	}
	return strings.Join(strings.Fields(bar.Numbers()+" "+terminal.SafeLine(bar.Message)), " ")
}

func (s callDetails) timelineLines() []string {
	lines := []string{"timeline"}
	for _, m := range s.view.Timeline {
		eventText := terminal.SafeLine(string(m.Kind))
		switch m.Kind {
		case dispatch.EventSuspended:
			eventText = "waiting: " + terminal.SafeLine(m.Reason)
		case dispatch.EventResumed:
			eventText = formatResolution(m.Resolution)
		case dispatch.EventEnded:
			eventText = statusText(s.view)
		case dispatch.EventStopped:
			eventText = fmt.Sprintf("the page answered the stop: %s", s.view.StopOutcome)
		}
		lines = append(lines, "  "+m.Time.Local().Format(clockTime)+"  "+eventText)
	}
	return lines
}

func (s callDetails) questionLines() []string {
	w := s.view.Waiting
	if w == nil {
		return nil
	}
	lines := []string{"question"}
	for _, paragraph := range []string{w.Title, w.Reason} {
		if paragraph != "" {
			lines = append(lines, "  "+terminal.SafeLine(paragraph))
		}
	}
	lines = append(lines, s.argumentLines(*w)...)
	allowPurpose, denyPurpose := "to allow it", "to deny it"
	if w.Kind == wire.TicketUser {
		allowPurpose, denyPurpose = "when done", "to stop it"
	}
	lines = append(lines,
		fmt.Sprintf("  %-12s  opentabs calls approve %s", allowPurpose, s.view.CallID),
		fmt.Sprintf("  %-12s  opentabs calls deny %s", denyPurpose, s.view.CallID))
	if len(w.Scopes) > 1 {
		lines = append(lines, "  it can be allowed "+scopeFlags(w.Scopes))
	}
	return lines
}

func (s callDetails) argumentLines(w dispatch.WaitingTicket) []string {
	if w.Args == "" || w.Kind == wire.TicketUser {
		return nil
	}
	lines := []string{"  arguments"}
	for _, line := range terminal.JSONLines(w.Args) {
		lines = append(lines, "    "+line)
	}
	if w.ArgsBytes > len(w.Args) {
		lines = append(lines, fmt.Sprintf("    ... truncated: all arguments are %s", humanize.Bytes(w.ArgsBytes)))
	}
	return lines
}

func (s callDetails) shownActivities() (visibleActivities []dispatch.ActivityView, hiddenCount int) {
	for _, a := range s.view.Activities {
		if s.verbose || a.Audience == dispatch.AudienceUser {
			visibleActivities = append(visibleActivities, a)
		} else {
			hiddenCount++
		}
	}
	return visibleActivities, hiddenCount
}

func (s callDetails) activityLines(maxLines int) []string {
	visibleActivities, hiddenCount := s.shownActivities()
	var lines []string
	for i, a := range visibleActivities {
		lines = append(lines, formatActivityHeading(a))
		activityLines := terminal.ContentLines(a.Type, a.Content, s.columns > 0)
		if maxLines > 0 {
			// Leave at least one line for the heading of each remaining activity, and one
			// line for a note about all hidden activities.
			laterActivities := len(visibleActivities) - i - 1
			activityLines = shortenLines(a.Type, activityLines, max(2, (maxLines-1-len(lines)-laterActivities)/(laterActivities+1)))
		}
		for _, line := range activityLines {
			lines = append(lines, "  "+line)
		}
	}
	if hiddenCount > 0 {
		lines = append(lines, terminal.CountWithVerb(hiddenCount, "activity is", "activities are")+" not for the user: --verbose shows all")
	}
	return lines
}

func formatActivityHeading(a dispatch.ActivityView) string {
	activityHeading := "activity " + terminal.SafeLine(a.Type)
	if a.Audience != dispatch.AudienceUser {
		activityHeading += " (not for the user)"
	}
	if a.Dropped > 0 {
		activityHeading += fmt.Sprintf(", %s dropped: too large, or did not apply", terminal.CountNoun(a.Dropped, "change"))
	}
	return activityHeading
}

// shortenLines keeps the beginning of tables and JSON, and the end of other texts.
func shortenLines(kind string, lines []string, maxLines int) []string {
	if len(lines) <= maxLines {
		return lines
	}
	omittedLines := len(lines) - maxLines + 1
	if kind == "table" || kind == "json" {
		return append(lines[:maxLines-1:maxLines-1], fmt.Sprintf("... %s more", terminal.CountNoun(omittedLines, "line")))
	}
	return append([]string{fmt.Sprintf("... %s above", terminal.CountNoun(omittedLines, "line"))}, lines[omittedLines:]...)
}

func newCallDetails(terminalOut *terminal.Output, v dispatch.View, verbose bool) callDetails {
	now := time.Now()
	s := callDetails{view: v, verbose: verbose, glyphSet: terminalOut.Glyphs(), now: now, viewReadTime: now}
	if terminalOut.IsTerminal() {
		s.columns, _ = terminalOut.Size()
	}
	return s
}

// Print prints the details of a call, such as its status, progress and activities. The
// view v must have been read just now, because the printed run time of a running call
// depends on the current time.
func Print(terminalOut *terminal.Output, v dispatch.View, verbose bool) {
	terminalOut.PrintEscapedLines(newCallDetails(terminalOut, v, verbose).renderLines(0)...)
}
