package main

import (
	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/mcpclient"
	"opentabs/internal/terminal"
)

// shownProgress returns a report as the terminal shows it: its numbers, and its
// message if it is for the user or all is set.
func shownProgress(p mcpclient.Progress, all bool) terminal.Progress {
	shown := terminal.Progress{Progress: p.Progress, Total: p.Total, HasTotal: p.HasTotal}
	if all || p.Audience == dispatch.AudienceUser {
		shown.Message = callview.WithStatusWord(p.StatusWord, p.Message)
	}
	return shown
}
