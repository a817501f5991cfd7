package callview

import (
	"context"
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/internal/usererr"
)

// Selection selects the calls from which a command without a call ID chooses.
type Selection int

const (
	// Waiting selects the calls that wait for the user.
	Waiting Selection = iota
	// Open selects the calls that have not ended.
	Open
	// Any selects all calls.
	Any
)

// idPrefix is the prefix of each call's ID.
const idPrefix = "call_"

// maxShownIDs is the number of calls that the error for an ambiguous ID lists.
const maxShownIDs = 5

// FindID returns the ID of the call that the user typed: a whole ID, the beginning of an
// ID, or an empty text for the only call in the selection. FindID returns an unknown ID
// unchanged, so that the server rejects the ID. The error is a [usererr.Error] if typed
// matches several calls, or if typed is empty and the selection has no call.
func FindID(ctx context.Context, calls httpapi.CallsClient, typed string, selection Selection) (string, error) {
	if typed != "" && len(typed) >= len(idPrefix)+26 { // typed is a whole ID
		return typed, nil
	}
	listed, err := calls.List(ctx)
	if err != nil {
		return "", err
	}
	var found []dispatch.View
	for _, c := range listed {
		switch {
		case typed == c.CallID:
			return typed, nil
		case typed == "" && selection.contains(c), typed != "" && (strings.HasPrefix(c.CallID, typed) || strings.HasPrefix(c.CallID, idPrefix+typed)):
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 1:
		return found[0].CallID, nil
	case len(found) == 0 && typed == "":
		return "", usererr.Errorf("%s: see `opentabs calls`", selection.emptyText())
	case len(found) == 0:
		return typed, nil
	}
	var names []string
	for _, c := range found {
		names = append(names, c.CallID+" ("+terminal.SafeLine(c.ToolName)+")")
	}
	if len(names) > maxShownIDs {
		names = append(names[:maxShownIDs], "...")
	}
	return "", usererr.Errorf("several calls match: name one of %s", strings.Join(names, ", "))
}

// contains reports whether a selection contains a call.
func (s Selection) contains(c dispatch.View) bool {
	switch s {
	case Waiting:
		return c.Waiting != nil
	case Open:
		return c.Ended == nil
	}
	return true
}

// emptyText returns the sentence for the user if the selection contains no call.
func (s Selection) emptyText() string {
	switch s {
	case Waiting:
		return "no call waits for you"
	case Open:
		return "no call runs or waits"
	}
	return "there are no calls"
}
