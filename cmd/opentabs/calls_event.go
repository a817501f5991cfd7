package main

import (
	"encoding/json"
	"fmt"

	"opentabs/dispatch"
	"opentabs/wire"
)

// eventLine is an event as one line; verbose shows also what is not meant for
// people.
func eventLine(e dispatch.Event, verbose bool) string {
	return fmt.Sprintf("%s  %s  %s  %s", e.Time.Local().Format(clockTime), e.Call.CallID, oneLine(e.Call.ToolName), eventText(e, verbose))
}

// clockTime is how the time of an event is written.
const clockTime = "15:04:05.000"

// eventText says what an event tells, without the call.
func eventText(e dispatch.Event, verbose bool) string {
	v := e.Call
	switch e.Kind {
	case dispatch.EventCreated:
		text := "queued"
		if who := v.Who().String(); who != "" {
			text += ", asked for by " + oneLine(who)
		}
		return text
	case dispatch.EventSuspended:
		return suspendedText(e)
	case dispatch.EventResumed:
		return resolutionText(e.Resolution)
	case dispatch.EventRunning:
		text := "running"
		if v.TabID != 0 {
			text += fmt.Sprintf(" in tab %d of %s", v.TabID, oneLine(v.Browser))
		}
		return text
	case dispatch.EventProgress:
		return progressText(e)
	case dispatch.EventActivity:
		return activityText(e.Activity)
	case dispatch.EventEnded:
		text := fmt.Sprintf("%s after %s", callStatus(v), spell(ran(v)))
		if who := v.Who().String(); who != "" {
			text += ", asked for by " + oneLine(who)
		}
		switch result := v.ShownResult(verbose); {
		case v.Status == wire.StatusFailed && v.Error != "":
			text += ": " + oneLine(v.Error)
		case result != "":
			text += ": " + oneLine(result)
		}
		return text
	case dispatch.EventStopped:
		return fmt.Sprintf("the page answered the stop: %s", v.Stopped)
	}
	return oneLine(string(e.Kind))
}

// suspendedText says what is asked, and how to answer.
func suspendedText(e dispatch.Event) string {
	w := e.Call.Waiting
	if w == nil { // it was settled at once
		return "suspended"
	}
	text := "waits for " + waitsFor(*w, e.Time) + ": "
	if w.Title != "" {
		text += oneLine(w.Title) + ": "
	}
	return text + fmt.Sprintf("%s (opentabs calls approve|deny %s)", oneLine(w.Reason), e.Call.CallID)
}

// resolutionText says what a person decided.
func resolutionText(r *dispatch.Resolution) string {
	if r == nil {
		return "decided"
	}
	if !r.Allow {
		return "denied, by " + oneLine(r.By)
	}
	return "allowed " + scopeText(r.Scope, r.For) + ", by " + oneLine(r.By)
}

// progressText is the progress of a report.
func progressText(e dispatch.Event) string {
	text := "progress"
	if part := e.Call.Progress; part != nil {
		text += " " + percent(*part)
	}
	if e.Report == nil {
		return text
	}
	if said := withWord(e.Report.Status, e.Report.Message); said != "" {
		text += "  " + oneLine(said)
	}
	return text
}

// activityText says what became of an activity, not its content.
func activityText(a *wire.Activity) string {
	if a == nil {
		return "activity"
	}
	if a.Patch == nil {
		return fmt.Sprintf("activity %s, %s", oneLine(a.Type), size(len(a.Content)))
	}
	var ops []json.RawMessage
	if json.Unmarshal(a.Patch, &ops) != nil {
		return fmt.Sprintf("activity %s, a change that is none", oneLine(a.Type))
	}
	return fmt.Sprintf("activity %s, %s", oneLine(a.Type), plural(len(ops), "change"))
}
