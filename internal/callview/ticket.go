package callview

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	"opentabs/dispatch"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

const maxDescriptionBytes = 300

// TicketLines describes a waiting call, so that the user can decide about the call. The
// description includes the tool, the author's description of the call, the page and the
// arguments. TicketLines escapes control characters in all texts.
func TicketLines(v dispatch.View, now time.Time) []string {
	w := v.Waiting
	if w == nil {
		return nil
	}
	lines := []string{terminal.SafeLine(v.ToolName) + " is " + WaitingText(*w) + ", " + timeLeftText(*w, now) + " left"}
	addLine := func(line string) {
		if line != "" {
			lines = append(lines, terminal.SafeLine(line))
		}
	}
	addLine(formatTool(*w))
	addLine(shortenText(w.Summary.Description, maxDescriptionBytes))
	if w.Kind == wire.TicketUser {
		addLine(w.Title)
	}
	addLine(w.Reason)
	addLine(formatTicketPage(w.Page))
	for _, line := range (callDetails{view: v, now: now}).argumentLines(*w) {
		lines = append(lines, strings.TrimPrefix(line, "  "))
	}
	return lines
}

func formatTool(w dispatch.WaitingTicket) string {
	if w.Kind == wire.TicketUser {
		return ""
	}
	effect := "can change data"
	if w.Summary.IsReadOnly {
		effect = "reads"
	}
	name := cmp.Or(w.Summary.Title, w.Tool)
	if w.Summary.PluginName != "" {
		name += " (" + w.Summary.PluginName + ")"
	}
	return name + ": " + effect
}

func formatTicketPage(page *dispatch.TicketPage) string {
	if page == nil {
		return ""
	}
	var statusTexts []string
	for _, pageText := range []string{page.TabTitle, page.Site, page.BrowserName} {
		if pageText != "" {
			statusTexts = append(statusTexts, pageText)
		}
	}
	return "in " + strings.Join(statusTexts, ", ")
}

func shortenText(pageText string, limit int) string {
	if len(pageText) <= limit {
		return pageText
	}
	for limit > 0 && !utf8.RuneStart(pageText[limit]) {
		limit--
	}
	return pageText[:limit] + "..."
}
