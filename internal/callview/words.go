package callview

import (
	"cmp"
	"fmt"
	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/internal/terminal"
	"opentabs/wire"
	"strings"
	"time"
)

// CallerText describes the tool that made a nested call, as in "chat__post (tab 7,
// https://chat.example)".
func CallerText(caller *dispatch.Caller) string {
	tabText := fmt.Sprintf("tab %d", caller.TabID)
	if caller.Origin != "" {
		tabText += ", " + caller.Origin
	}
	return fmt.Sprintf("%s (%s)", caller.Tool, tabText)
}

// browserText returns the browser's ID if an older server did not send the browser's name.
func browserText(v dispatch.View) string { return terminal.SafeLine(cmp.Or(v.BrowserName, v.Browser)) }

// ScopeText describes the scope of an approval, such as "for the session" or "for 10
// min". The duration d is used only for wire.ScopeTime; 0 means unknown.
func ScopeText(s wire.Scope, d time.Duration) string {
	switch s {
	case wire.ScopeSession:
		return "for the session"
	case wire.ScopeTime:
		if d > 0 {
			return "for " + humanize.Duration(d)
		}
		return "for some time"
	}
	return terminal.SafeLine(string(s))
}

func scopeFlags(scopes []wire.Scope) string {
	flags := map[wire.Scope]string{
		wire.ScopeOnce: "once, without a flag", wire.ScopeSession: "with --this-session",
		wire.ScopeTime: "with --for TIME", wire.ScopeAlways: "with --always",
	}
	var statusTexts []string
	for _, s := range scopes {
		statusTexts = append(statusTexts, flags[s])
	}
	return strings.Join(statusTexts, ", or ")
}

// WithStatusWord puts the tool's status word before the tool's message, as in "exporting:
// page 3 of 9".
func WithStatusWord(statusWord, toolMessage string) string {
	switch {
	case statusWord == "" || strings.EqualFold(statusWord, toolMessage):
		return toolMessage
	case toolMessage == "":
		return statusWord
	}
	return statusWord + ": " + toolMessage
}
