package dispatch

import (
	"fmt"
	"slices"
	"strings"

	"opentabs/wire"
)

// chooseTargets returns the documents in which the call may run, best first.
// The first is used; the others are tried if the adapter is not ready there.
// It never chooses between two browsers: two browsers may be two accounts.
func chooseTargets(all Targets, req *Call) ([]Target, *wire.CallError) {
	live := matching(all.Live, req)
	if len(live) == 0 {
		return nil, noTarget(all, req)
	}
	if req.TabID == 0 {
		for _, t := range live[1:] {
			if t.Browser != live[0].Browser {
				return nil, &wire.CallError{
					Code:    wire.ErrAmbiguousTarget,
					Message: "tabs of several browsers match: " + nameTargets(live) + "; name one",
				}
			}
		}
		return live, nil
	}
	if len(live) > 1 {
		return nil, &wire.CallError{
			Code:    wire.ErrAmbiguousTarget,
			Message: fmt.Sprintf("several browsers have a tab %d: %s; name the browser too", req.TabID, nameTargets(live)),
		}
	}
	return live, nil
}

// matching returns the targets that the call's own choice leaves.
func matching(targets []Target, req *Call) []Target {
	want := req.want()
	return slices.DeleteFunc(slices.Clone(targets), func(t Target) bool { return !want.Allows(t) })
}

// want is where the call wants to run.
func (c *Call) want() Want {
	return Want{Plugin: c.Tool.Plugin, Browser: c.Browser, TabID: c.TabID}
}

// noTarget says why there is no document for the call.
func noTarget(all Targets, req *Call) *wire.CallError {
	name := req.Tool.PluginName
	if name == "" {
		name = req.Tool.Plugin
	}
	switch {
	case all.Browsers == 0:
		return &wire.CallError{Code: wire.ErrNoBrowser, Message: "no browser with the opentabs extension is connected"}
	case len(matching(all.NeedReload, req)) > 0:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"%s is open, but its page was loaded before the plugin was added or changed (%s); reload the tab",
			name, nameTargets(matching(all.NeedReload, req)))}
	case len(all.Live) > 0:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"the tab or browser that was named does not show %s; these do: %s", name, nameTargets(all.Live))}
	default:
		return &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"no open tab shows %s (%s)", name, strings.Join(req.Tool.Matches, ", "))}
	}
}

// listed is how many targets an error names.
const listed = 8

// nameTargets names targets for a person.
func nameTargets(targets []Target) string {
	var b strings.Builder
	for i, t := range targets {
		if i == listed {
			fmt.Fprintf(&b, " and %d more", len(targets)-listed)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "tab %d of browser %q, id %s (%s)", t.TabID, t.BrowserName, t.Browser, t.URL)
	}
	return b.String()
}
