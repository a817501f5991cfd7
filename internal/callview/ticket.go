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

// maxDescriptionBytes limits the shown part of the author's description of a tool, in bytes.
const maxDescriptionBytes = 300

// TicketLines returns what the user needs to decide about a waiting call: the tool, the
// author's description, the page, and the arguments. The lines contain no control
// characters.
func TicketLines(v dispatch.View, now time.Time) []string {
	w := v.Waiting
	if w == nil {
		return nil
	}
	lines := []string{terminal.SafeLine(v.ToolName) + " is " + waitingText(*w) + ", " + timeLeftText(*w, now) + " left"}
	add := func(text string) {
		if text != "" {
			lines = append(lines, terminal.SafeLine(text))
		}
	}
	add(formatTool(*w))
	add(shortenText(w.About.Description, maxDescriptionBytes))
	if w.Kind == wire.TicketUser {
		add(w.Title)
	}
	add(w.Reason)
	add(formatPage(w.Page))
	for _, line := range (callDetails{view: v, now: now}).argumentLines(*w) {
		lines = append(lines, strings.TrimPrefix(line, "  "))
	}
	return lines
}

// formatTool returns the display names of a tool and its plugin, and whether the tool only
// reads.
func formatTool(w dispatch.WaitingTicket) string {
	if w.Kind == wire.TicketUser {
		return ""
	}
	effect := "can change data"
	if w.About.IsReadOnly {
		effect = "reads"
	}
	name := cmp.Or(w.About.Title, w.Tool)
	if w.About.PluginName != "" {
		name += " (" + w.About.PluginName + ")"
	}
	return name + ": " + effect
}

// formatPage returns a text with the tab, the site and the browser in which a waiting call
// would run.
func formatPage(page *dispatch.TicketPage) string {
	if page == nil {
		return ""
	}
	var texts []string
	for _, text := range []string{page.TabTitle, page.Site, page.BrowserName} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	return "in " + strings.Join(texts, ", ")
}

// shortenText returns the beginning of a text, with at most limit bytes.
func shortenText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "..."
}
