package callview

import (
	"encoding/json"
	"fmt"
	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

// EventLine formats an event as one line with its time, call ID, tool and description. If
// verbose is true, EventLine includes messages that are not meant for the user.
func EventLine(e dispatch.Event, verbose bool) string {
	return fmt.Sprintf("%s  %s  %s  %s", e.Time.Local().Format(clockTime), e.Call.CallID, terminal.SafeLine(e.Call.ToolName), EventText(e, verbose))
}

const clockTime = "15:04:05.000"

// EventText describes an event of a call without its time, its call ID and its tool.
func EventText(e dispatch.Event, verbose bool) string {
	v := e.Call
	switch e.Kind {
	case dispatch.EventCreated:
		eventLine := "queued"
		if clientName := v.ToClient().String(); clientName != "" {
			eventLine += ", requested by " + terminal.SafeLine(clientName)
		}
		return eventLine
	case dispatch.EventSuspended:
		return formatSuspension(e)
	case dispatch.EventResumed:
		return formatResolution(e.Resolution)
	case dispatch.EventRunning:
		eventLine := "running"
		if v.TabID != 0 {
			eventLine += fmt.Sprintf(" in tab %d of %s", v.TabID, browserText(v))
		}
		return eventLine
	case dispatch.EventProgress:
		return progressText(e)
	case dispatch.EventActivity:
		return activityText(e.Activity)
	case dispatch.EventEnded:
		eventLine := endText(v)
		if clientName := v.ToClient().String(); clientName != "" {
			eventLine += ", requested by " + terminal.SafeLine(clientName)
		}
		switch result := v.ShownResult(verbose); {
		case v.Status.IsFailure() && v.Error != "":
			eventLine += ": " + terminal.SafeLine(v.Error)
		case result != "":
			eventLine += ": " + terminal.SafeLine(result)
		}
		return eventLine
	case dispatch.EventStopped:
		return fmt.Sprintf("the page answered the stop: %s", v.StopOutcome)
	}
	return terminal.SafeLine(string(e.Kind))
}

func formatSuspension(e dispatch.Event) string {
	w := e.Call.Waiting
	if w == nil { // the user decided before the event was printed
		return "waiting for approval"
	}
	suspensionText := WaitingText(*w) + ", " + timeLeftText(*w, e.Time) + " left: "
	if w.Title != "" {
		suspensionText += terminal.SafeLine(w.Title) + ": "
	}
	return suspensionText + fmt.Sprintf("%s (opentabs calls approve|deny %s)", terminal.SafeLine(w.Reason), e.Call.CallID)
}

func formatResolution(r *dispatch.Resolution) string {
	if r == nil {
		return "decided"
	}
	if !r.Allow {
		return "denied, by " + terminal.SafeLine(r.Surface)
	}
	return "allowed " + ScopeText(r.Scope, r.Duration) + ", by " + terminal.SafeLine(r.Surface)
}

func progressText(e dispatch.Event) string {
	progressLine := "progress"
	if progress := e.Call.Progress; progress != nil {
		progressLine += " " + terminal.FormatPercent(*progress)
	}
	if e.Report == nil {
		return progressLine
	}
	if toolMessage := WithStatusWord(e.Report.Status, e.Report.Message); toolMessage != "" {
		progressLine += "  " + terminal.SafeLine(toolMessage)
	}
	return progressLine
}

func activityText(a *wire.Activity) string {
	if a == nil {
		return "activity"
	}
	if a.Patch == nil {
		return fmt.Sprintf("activity %s, %s", terminal.SafeLine(a.Type), humanize.Bytes(len(a.Content)))
	}
	var patchOperations []json.RawMessage
	if json.Unmarshal(a.Patch, &patchOperations) != nil {
		return fmt.Sprintf("activity %s, a malformed change", terminal.SafeLine(a.Type))
	}
	return fmt.Sprintf("activity %s, %s", terminal.SafeLine(a.Type), terminal.CountNoun(len(patchOperations), "change"))
}
