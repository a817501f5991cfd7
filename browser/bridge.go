package browser

import (
	"context"
	"encoding/json"
	"slices"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// Options configure the browser tools.
type Options struct {
	// Rules has the rules of sites. Required.
	Rules *policy.Policy
	// OwnAddress is the host:port of the daemon, which no browser tool reaches. Required.
	OwnAddress string
	// UploadFolders are the absolute paths of the folders whose files agents may upload.
	// Default: none.
	UploadFolders []string
}

// Connect adds the gates and hooks of the browser tools to the options of a dispatcher,
// and returns the bridge for that dispatcher, which runs browser tools through bridge.
// heldTabs returns the tabs that clients hold.
func Connect(bridge dispatch.Bridge, o *dispatch.Options, options Options) (connected dispatch.Bridge, heldTabs func() []HeldTab) {
	tabs := newTabs()
	sites := newSites(options, tabs)
	o.Gates = append(o.Gates, sites, tabs)
	o.BeforeHooks = append(o.BeforeHooks, tabs)
	o.AfterHooks = append(o.AfterHooks, sites)
	o.CurrentTab = tabs.currentTabOf
	o.ShapeOutput = resultBuilder{sites, tabs}.shapeOutput
	return &toolBridge{Bridge: bridge, uploadFolders: options.UploadFolders, batches: newBatches(), sites: sites}, tabs.heldTabs
}

// toolBridge passes the runs of browser tools to the browser, and runs browser_batch
// itself.
type toolBridge struct {
	dispatch.Bridge
	uploadFolders []string
	batches       *batches
	sites         *siteGate
}

// clientArgument is the argument with the name of the client, which the extension shows
// as the title of the client's tab group.
const clientArgument = "_client"

// framesArgument is the argument with the rules for the child frames of a page: the gates
// judge the address of the tab only.
const framesArgument = "_frames"

// Start implements dispatch.Bridge.
func (b *toolBridge) Start(ctx context.Context, run dispatch.Run, sink dispatch.Sink) *wire.CallError {
	if run.Plugin != Name {
		return b.Bridge.Start(ctx, run, sink)
	}
	// The gates have judged the tab of the run, so no argument may name another tab.
	run.Args = withoutMembers(run.Args, "tabId", "browser", clientArgument, framesArgument)
	switch run.Tool {
	case toolBatch:
		return b.batches.start(run, sink)
	case toolTabs:
		run.Args = withMember(run.Args, clientArgument, rawjson.Encode(run.Client))
	case toolUpload:
		args, err := readUploads(run.Args, b.uploadFolders)
		if err != nil {
			return err
		}
		run.Args = args
	}
	if run.Tool != toolTabs {
		run.Args = withMember(run.Args, framesArgument, rawjson.Encode(b.sites.frameRules(classOfTool(run.Tool, run.Args))))
	}
	return b.Bridge.Start(ctx, run, sink)
}

// Cancel implements dispatch.Bridge.
func (b *toolBridge) Cancel(id, reason string, onOutcome func(wire.CancelOutcome)) {
	if !b.batches.cancel(id) {
		b.Bridge.Cancel(id, reason, onOutcome)
		return
	}
	onOutcome(wire.CancelAborted)
}

// Answer implements dispatch.Bridge.
func (b *toolBridge) Answer(id string, askID int, output json.RawMessage, err *wire.CallError) {
	if !b.batches.answer(id, output, err) {
		b.Bridge.Answer(id, askID, output, err)
	}
}

// withMember returns a JSON object with one more member.
func withMember(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	members := []rawjson.Member{}
	for m := range rawjson.Members(object) {
		members = append(members, m)
	}
	return rawjson.JoinMembers(append(members, rawjson.Member{Key: key, Quoted: rawjson.Encode(key), Value: value}))
}

// withoutMembers returns a JSON object without some members.
func withoutMembers(object json.RawMessage, keys ...string) json.RawMessage {
	members := []rawjson.Member{}
	isChanged := false
	for m := range rawjson.Members(object) {
		if slices.Contains(keys, m.Key) {
			isChanged = true
			continue
		}
		members = append(members, m)
	}
	if !isChanged {
		return object
	}
	return rawjson.JoinMembers(members)
}
