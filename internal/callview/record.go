package callview

import (
	"cmp"
	"fmt"
	"time"

	"opentabs/internal/humanize"
	"opentabs/internal/recorder"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

// RecordRows returns a table of recorded calls, one row per call. The first row of the
// table contains the column names.
func RecordRows(records []recorder.Entry, verbose bool) [][]string {
	tableRows := [][]string{{"TIME", "CALL", "TOOL", "STATUS", "RAN", "CLIENT", "SITE", "MESSAGE"}}
	for _, r := range records {
		toolMessage := cmp.Or(r.Error, r.ShownResult(verbose), WithStatusWord(r.UserStatusWord, r.UserMessage))
		tableRows = append(tableRows, []string{
			endTime(r.Record).Local().Format(time.DateTime), r.CallID, r.ToolName, statusText(r.View), runTimeText(r.View),
			r.ToClient().String(), r.Site, terminal.SafeLine(toolMessage),
		})
	}
	return tableRows
}

func endTime(r recorder.Record) time.Time {
	if r.Ended == nil {
		return r.Created
	}
	return *r.Ended
}

// PrintRecord prints the details of a recorded call, including the fields that only
// recorded calls have, such as the site.
func PrintRecord(terminalOut *terminal.Output, r recorder.Record, verbose bool) {
	Print(terminalOut, r.View, verbose)
	terminalOut.PrintEscapedLines(formatRecordLines(r, verbose)...)
}

func formatRecordLines(r recorder.Record, verbose bool) []string {
	var lines []string
	if r.Site != "" {
		lines = append(lines, fieldLine("site", terminal.SafeLine(r.Site)))
	}
	if r.Undo != nil {
		lines = append(lines, fieldLine("undo", undoText(*r.Undo)))
	}
	if a := r.Approval; a != nil {
		decisionText := "allowed " + ScopeText(a.Scope, 0)
		if a.By != "" {
			decisionText += " by " + terminal.SafeLine(a.By)
		}
		lines = append(lines, fieldLine("approval", decisionText))
	}
	if verbose && r.Hash != "" {
		lines = append(lines, fieldLine("hash", terminal.SafeLine(r.Hash)))
	}
	lines = append(lines, jsonBlock("arguments", string(r.Args), r.ArgsBytes, r.IsArgsIncomplete)...)
	lines = append(lines, jsonBlock("result", string(r.Output), r.OutputBytes, r.IsOutputIncomplete)...)
	if verbose && len(r.LastMessages) > 0 {
		lines = append(lines, "messages")
		switch r.DroppedMessages {
		case 0:
		case 1:
			lines = append(lines, "  1 earlier message was not recorded")
		default:
			lines = append(lines, fmt.Sprintf("  %d earlier messages were not recorded", r.DroppedMessages))
		}
		for _, m := range r.LastMessages {
			lines = append(lines, fmt.Sprintf("  %s  (%s) %s", m.Time.Local().Format(clockTime), cmp.Or(m.Audience, "internal"), terminal.SafeLine(m.Message)))
		}
	}
	return lines
}

func undoText(u wire.CallUndo) string {
	by := terminal.SafeLine(u.By)
	switch u.State {
	case wire.UndoDone:
		return "undone by " + by
	case wire.UndoStarted:
		return "started by " + by
	}
	return by + " may have undone the call, but its result did not arrive"
}

func jsonBlock(title, json string, originalBytes int, isIncomplete bool) []string {
	if json == "" || json == "{}" {
		return nil
	}
	if isIncomplete {
		title += fmt.Sprintf(" (%s; without secrets and long values)", humanize.Bytes(originalBytes))
	}
	lines := []string{title}
	for _, line := range terminal.JSONLines(json) {
		lines = append(lines, "  "+line)
	}
	return lines
}
