package callview

import (
	"context"
	"slices"
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
	"opentabs/internal/recorder"
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
)

// idPrefix is the prefix of each call's ID.
const idPrefix = "call_"

// maxShownIDs is the number of calls that the error for an ambiguous ID lists.
const maxShownIDs = 5

// FindID returns the ID of the call that the user typed: a whole ID, the beginning of an
// ID, or an empty string for the only call in the selection. FindID returns an unknown ID
// unchanged, so that the server rejects the ID. The error is a [usererr.Error] if typed
// matches several calls, or if typed is empty and the selection has no call.
func FindID(ctx context.Context, calls httpapi.CallsClient, typed string, selection Selection) (string, error) {
	if isWholeID(typed) {
		return typed, nil
	}
	listed, err := calls.List(ctx)
	if err != nil {
		return "", err
	}
	var found idMatches
	for _, c := range listed {
		if typed == "" && selection.contains(c) || typed != "" && hasIDPrefix(c.CallID, typed) {
			found.add(c)
		}
	}
	if len(found) == 0 && typed == "" {
		return "", usererr.Errorf("%s: see `opentabs calls`", selection.emptyText())
	}
	if id, err := found.choose(typed); err != nil || id != "" {
		return id, err
	}
	return typed, nil
}

// FindRecordedID returns the ID of the call that the user typed, a whole ID or the beginning
// of an ID, among the listed calls of a server and the recorded calls. stateDir is the state
// folder. The ID is empty if no call matches, and the error is a [usererr.Error] if several
// calls match. A whole ID is returned although it may be unknown.
func FindRecordedID(stateDir, typed string, listed []dispatch.View) (string, error) {
	if isWholeID(typed) {
		return typed, nil
	}
	var found idMatches
	for _, c := range listed {
		if hasIDPrefix(c.CallID, typed) {
			found.add(c)
		}
	}
	prefix := typed
	if !hasIDPrefix(idPrefix, typed) && !strings.HasPrefix(typed, idPrefix) {
		prefix = idPrefix + typed
	}
	entries, err := recorder.FindPrefix(stateDir, prefix, maxShownIDs+1)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		found.add(e.View)
	}
	return found.choose(typed)
}

// NewUnknownCallError returns the error for an ID or the beginning of an ID that no call has.
func NewUnknownCallError(typed string) error {
	return usererr.Errorf("no call has the ID %s: list calls with `opentabs calls --since 24h`", terminal.SafeLine(typed))
}

// isWholeID reports whether a text is as long as the ID of a call.
func isWholeID(typed string) bool { return len(typed) >= len(idPrefix)+26 }

// hasIDPrefix reports whether the user typed the beginning of an ID, with or without
// idPrefix.
func hasIDPrefix(id, typed string) bool {
	return strings.HasPrefix(id, typed) || strings.HasPrefix(id, idPrefix+typed)
}

// idMatches are the calls whose IDs begin with the text that the user typed.
type idMatches []dispatch.View

// add adds a call once.
func (m *idMatches) add(c dispatch.View) {
	if !slices.ContainsFunc(*m, func(other dispatch.View) bool { return other.CallID == c.CallID }) {
		*m = append(*m, c)
	}
}

// choose returns the ID of the only call or of the call whose ID is exactly typed; empty if
// there is no call. With several calls, the error is a [usererr.Error].
func (m idMatches) choose(typed string) (string, error) {
	var names []string
	for _, c := range m {
		if c.CallID == typed || len(m) == 1 {
			return c.CallID, nil
		}
		names = append(names, c.CallID+" ("+terminal.SafeLine(c.ToolName)+")")
	}
	if len(names) == 0 {
		return "", nil
	}
	if len(names) > maxShownIDs {
		names = append(names[:maxShownIDs], "...")
	}
	return "", usererr.Errorf("several calls match: name one of %s", strings.Join(names, ", "))
}

// contains reports whether a selection contains a call.
func (s Selection) contains(c dispatch.View) bool {
	if s == Waiting {
		return c.Waiting != nil
	}
	return c.Ended == nil
}

// emptyText returns the sentence for the user if the selection contains no call.
func (s Selection) emptyText() string {
	if s == Waiting {
		return "no call waits for you"
	}
	return "no call runs or waits"
}
