package main

import (
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/mcpclient"
	"opentabs/internal/terminal"
)

// shownProgress returns a report as the terminal shows it: its numbers, and its
// message if it is for the user or all is set.
func shownProgress(p mcpclient.Progress, all bool) terminal.Progress {
	shown := terminal.Progress{Progress: p.Progress, Total: p.Total, HasTotal: p.HasTotal}
	if all || p.Audience == dispatch.AudienceUser {
		shown.Message = messageWithStatus(p.StatusWord, p.Message)
	}
	return shown
}

// messageWithStatus puts the tool's own status word before its message.
func messageWithStatus(word, message string) string {
	switch {
	case word == "" || strings.EqualFold(word, message):
		return message
	case message == "":
		return word
	}
	return word + ": " + message
}
