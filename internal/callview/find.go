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

// Selection determines which calls a command considers if the user gives no call ID.
type Selection int

const (
	// Waiting selects calls that wait for the user.
	Waiting Selection = iota
	// Open selects calls that have not ended.
	Open
)

const idPrefix = "call_"

const maxShownIDs = 5

// FindID returns the whole ID of the call that the user means. The user can type a whole
// ID or its beginning, or nothing if the selection contains only one call. FindID returns
// an unknown whole ID unchanged, so that the server rejects the ID. FindID returns a
// [usererr.Error] if typedID matches several calls, or if typedID is empty and the
// selection contains no call.
func FindID(ctx context.Context, calls httpapi.CallsClient, typedID string, selection Selection) (string, error) {
	if isFullID(typedID) {
		return typedID, nil
	}
	listedViews, err := calls.List(ctx)
	if err != nil {
		return "", err
	}
	var matches idMatches
	for _, c := range listedViews {
		if typedID == "" && selection.contains(c) || typedID != "" && hasIDPrefix(c.CallID, typedID) {
			matches.add(c)
		}
	}
	if len(matches) == 0 && typedID == "" {
		return "", usererr.Errorf("%s: see `opentabs calls`", selection.emptyResultText())
	}
	if id, err := matches.choose(typedID); err != nil || id != "" {
		return id, err
	}
	return typedID, nil
}

// FindRecordedID returns the whole ID of the call that the user means, also if the call
// ended long ago. The user can type a whole ID or its beginning. FindRecordedID searches
// the calls in listedViews, and the calls that were recorded in the state directory
// stateDir. If no call matches, FindRecordedID returns an empty ID. If several calls
// match, FindRecordedID returns a [usererr.Error]. A whole ID is returned unchanged, even
// if no call has this ID.
func FindRecordedID(stateDir, typedID string, listedViews []dispatch.View) (string, error) {
	if isFullID(typedID) {
		return typedID, nil
	}
	var matches idMatches
	for _, c := range listedViews {
		if hasIDPrefix(c.CallID, typedID) {
			matches.add(c)
		}
	}
	prefix := typedID
	if !hasIDPrefix(idPrefix, typedID) && !strings.HasPrefix(typedID, idPrefix) {
		prefix = idPrefix + typedID
	}
	recordedEntries, err := recorder.FindPrefix(stateDir, prefix, maxShownIDs+1)
	if err != nil {
		return "", err
	}
	for _, e := range recordedEntries {
		matches.add(e.View)
	}
	return matches.choose(typedID)
}

// NewUnknownCallError returns the error that the user sees if no call's ID equals, or
// begins with, the typed text.
func NewUnknownCallError(typedID string) error {
	return usererr.Errorf("no call has the ID %s: list calls with `opentabs calls --since 24h`", terminal.SafeLine(typedID))
}

// isFullID reports whether a text is long enough to be the whole ID of a call.
func isFullID(typedID string) bool { return len(typedID) >= len(idPrefix)+26 }

// hasIDPrefix reports whether id begins with typedID, or with "call_" followed by typedID.
func hasIDPrefix(id, typedID string) bool {
	return strings.HasPrefix(id, typedID) || strings.HasPrefix(id, idPrefix+typedID)
}

// idMatches are the calls that match the ID, or the beginning of an ID, that the user
// typed.
type idMatches []dispatch.View

func (m *idMatches) add(c dispatch.View) {
	if !slices.ContainsFunc(*m, func(otherView dispatch.View) bool { return otherView.CallID == c.CallID }) {
		*m = append(*m, c)
	}
}

func (m idMatches) choose(typedID string) (string, error) {
	var names []string
	for _, c := range m {
		if c.CallID == typedID || len(m) == 1 {
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

func (s Selection) contains(c dispatch.View) bool {
	if s == Waiting {
		return c.Waiting != nil
	}
	return c.Ended == nil
}

func (s Selection) emptyResultText() string {
	if s == Waiting {
		return "no call waits for you"
	}
	return "no call runs or waits"
}
