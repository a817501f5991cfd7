package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"opentabs/dispatch"
	"opentabs/internal/recorder"
	"opentabs/plugin"
)

// All side panels share one session, so no approval with ScopeSession is possible for their calls.
var sidePanelClient = dispatch.Client{Name: "the side panel", Session: "side-panel", IsSessionShared: true}

var (
	errNotRecorded    = errors.New("the call is not recorded any more")
	errIncompleteArgs = errors.New("not all arguments of the call are recorded, so it cannot be run again")
	errRepeatedPrompt = errors.New("a prompt cannot be run again here; use it in your MCP client")
)

// callRepeater repeats recorded calls when side panels request it.
type callRepeater struct {
	findRecord func(callID string) (recorder.Entry, bool, error)
	plugins    func() *plugin.Set
	targets    func(plugin string) dispatch.Targets
	calls      *dispatch.Dispatcher
}

// The method repeatCall does not wait for the end of the repeated call, which needs the same approvals as any other call.
// The message of a returned error is a sentence for the user.
func (r *callRepeater) repeatCall(callID string) error {
	recordedEntry, ok, err := r.findRecord(callID)
	switch {
	case err != nil:
		return err
	case !ok:
		return errNotRecorded
	case recordedEntry.Prompt:
		return errRepeatedPrompt
	case recordedEntry.IsArgsIncomplete || len(recordedEntry.Args) == 0 && recordedEntry.ArgsBytes > len("{}"):
		return errIncompleteArgs
	}
	tool, ok := r.plugins().Tool(recordedEntry.ToolName)
	if !ok {
		return fmt.Errorf("there is no tool %s any more; install its plugin, or switch the tool on", recordedEntry.ToolName)
	}
	args := recordedEntry.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if err := tool.Validate(args); err != nil {
		return fmt.Errorf("the arguments do not fit the present version of %s: %w", recordedEntry.ToolName, err)
	}
	call := dispatch.Call{Tool: tool.Dispatch(), Args: args, Client: sidePanelClient}
	r.chooseTab(&call, recordedEntry)
	go r.calls.Call(context.Background(), call) //nolint:errcheck // the side panel shows the end of the call
	return nil
}

// If the tool can no longer run in the recorded call's tab, the dispatcher selects another tab.
func (r *callRepeater) chooseTab(call *dispatch.Call, recordedEntry recorder.Entry) {
	isSameTab := func(t dispatch.Target) bool {
		return t.Browser == recordedEntry.Browser && t.TabID == recordedEntry.TabID
	}
	switch {
	case call.Tool.TargetKind == dispatch.TargetBrowser:
		call.Browser = recordedEntry.Browser
	case call.Tool.TargetKind != dispatch.TargetDocument, slices.ContainsFunc(r.targets(call.Tool.Plugin).LiveTargets, isSameTab):
		call.Browser, call.TabID = recordedEntry.Browser, recordedEntry.TabID
	}
}
