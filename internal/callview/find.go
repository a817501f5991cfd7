package callview

import (
	"context"
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/internal/usererr"
)

// Selection is which calls a command without an ID means.
type Selection int

const (
	// Waiting are the calls that wait for the user.
	Waiting Selection = iota
	// Open are the calls that have not ended.
	Open
	// Any are all calls.
	Any
)

// idPrefix begins the ID of each call.
const idPrefix = "call_"

// maxShownIDs is how many calls an error lists.
const maxShownIDs = 5

// FindID returns the ID of the call that the user means with typed: an ID, the beginning
// of one, or nothing for the only call in the selection. An unknown ID is returned as it
// is, so that the server refuses it. The error is a [usererr.Error] if typed fits several
// calls or none.
func FindID(ctx context.Context, calls httpapi.CallsClient, typed string, selection Selection) (string, error) {
	if typed != "" && len(typed) >= len(idPrefix)+26 { // a whole ID
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
		return "", usererr.Errorf("%s: see `opentabs calls`", selection.none())
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
	return "", usererr.Errorf("there are several such calls, so name one: %s", strings.Join(names, ", "))
}

// contains reports whether a call is in the selection.
func (s Selection) contains(c dispatch.View) bool {
	switch s {
	case Waiting:
		return c.Waiting != nil
	case Open:
		return c.Ended == nil
	}
	return true
}

// none returns the sentence for an empty selection.
func (s Selection) none() string {
	switch s {
	case Waiting:
		return "no call waits for you"
	case Open:
		return "no call runs or waits"
	}
	return "there are no calls"
}
