package browser

import (
	"context"
	"encoding/json"
	"slices"

	"opentabs/dispatch"
	"opentabs/internal/filestore"
	"opentabs/internal/rawjson"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// Options configure the browser tools.
type Options struct {
	// Rules stores the user's rules for sites. The field Rules is required.
	Rules *policy.Policy
	// OwnAddress is the daemon's address (host:port), which browser tools must not open.
	// The field OwnAddress is required.
	OwnAddress string
	// UploadFolders are the absolute paths of the folders whose files agents are allowed to
	// upload. By default, agents are not allowed to upload files.
	UploadFolders []string
	// The field Limits contains the maximum numbers of calls per minute in one tab. By
	// default, agents may make any number of calls.
	Limits Limits
	// CapabilitiesOf returns the optional Chrome permissions that the user granted a
	// browser's extension. By default, only the extension checks whether it has the
	// permissions that a tool needs.
	CapabilitiesOf func(browserID string) []string
	// Files stores the files that browser tools write. The field Files is required.
	Files *filestore.Store
}

// Connect adds the gates and hooks of the browser tools to the options of a dispatcher. The
// result connectedBridge runs browser tools through the argument bridge.
// The TabHoldTable that Connect returns records which client holds which tab. The Sessions that
// Connect returns delete the stored state of a client's session when the session ends.
func Connect(bridge dispatch.Bridge, o *dispatch.Options, options Options) (connectedBridge dispatch.Bridge, tabHolds *TabHoldTable, sessions *Sessions) {
	tabHolds = newHolds()
	tabs := newTabs(tabHolds)
	sites := newSiteGate(options, tabs)
	limits := newRateLimitGate(options.Limits)
	o.Gates = append(o.Gates, sites, tabHolds, limits, permissionGate{options.CapabilitiesOf})
	shownPages := newShownPages()
	sessions = newSessions(tabHolds, tabs, sites, shownPages)
	o.BeforeHooks = append(o.BeforeHooks, sessions, tabHolds, limits)
	o.AfterHooks = append(o.AfterHooks, sites, tabHolds, sessions)
	o.CurrentTab = tabs.currentTabOf
	o.ShapeOutput = resultBuilder{sites, tabs, shownPages, options.Files}.shapeOutput
	o.MaskArgs = maskArgsForApproval
	return &toolBridge{Bridge: bridge, uploadFolders: options.UploadFolders, batches: newBatches(tabHolds.recordBatchEnd), sites: sites}, tabHolds, sessions
}

// toolBridge adds internal arguments to calls of browser tools before the browser receives
// them. toolBridge itself runs the steps of browser_batch calls.
type toolBridge struct {
	dispatch.Bridge
	uploadFolders []string
	batches       *batches
	sites         *siteGate
}

// clientArgument is the argument that contains the client's name. The extension uses the
// client's name as the title of the tab group with the client's tabs.
const clientArgument = "_client"

// sessionArgument is the name of the argument with which the server sends the client's
// session to the extension. The extension deletes the state of a session when the session
// ends.
const sessionArgument = "_session"

// framesArgument is the argument that contains the site rules for child frames, and for
// addresses in browser data such as the history. The extension applies the site rules for
// child frames, because the gates in the server check only the address of the tab.
const framesArgument = "_frames"

// Targets implements dispatch.Bridge.
func (b *toolBridge) Targets(ctx context.Context, targetChoice dispatch.TargetChoice) dispatch.Targets {
	if targetChoice.Plugin == Name {
		targetChoice.Inspect = b.sites.inspectionFor(targetChoice)
	}
	return b.Bridge.Targets(ctx, targetChoice)
}

// Start implements dispatch.Bridge.
func (b *toolBridge) Start(ctx context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
	if toolRun.Plugin != Name {
		return b.Bridge.Start(ctx, toolRun, sink)
	}
	// The gates have checked only the tab in which the call runs, so no argument is
	// allowed to name another tab.
	toolRun.Args = removeMembers(toolRun.Args, "tabId", "browser", clientArgument, sessionArgument, framesArgument, secretsArgument, closableTabsArgument, fileNameArgument, refusedFileTypesArgument)
	switch toolRun.Tool {
	case toolTabs: // listTabs searches in the server, because addresses have parts that the client may not see
		toolRun.Args = removeMembers(toolRun.Args, "query")
	case toolBatch:
		return b.batches.start(toolRun, sink)
	case toolWindows:
		toolRun.Args = setMember(toolRun.Args, closableTabsArgument, rawjson.Encode(b.sites.tabs.closableTabs(toolRun.Target.Browser, windowIDOf(toolRun.Args))))
	case toolDownloads:
		toolRun.Args = withFileName(toolRun.Args)
	case toolUpload:
		args, err := readUploads(toolRun.Args, b.uploadFolders)
		if err != nil {
			return err
		}
		toolRun.Args = args
	}
	if typedTexts := typedSecretKinds(toolRun.Target); len(typedTexts) > 0 { // the user has approved typing into these fields
		toolRun.Args = setMember(toolRun.Args, secretsArgument, rawjson.Encode(typedTexts))
	}
	if toolRun.Tool != toolTabs {
		toolRun.Args = setMember(toolRun.Args, framesArgument, rawjson.Encode(b.sites.frameRules(frameRuleClass(toolRun), toolRun.Target.URL)))
	}
	if classOfTool(toolRun.Tool, toolRun.Args) != classRead { // a call that acts may open tabs
		toolRun.Args = setMember(toolRun.Args, clientArgument, rawjson.Encode(toolRun.Client.String()))
	}
	toolRun.Args = setMember(toolRun.Args, sessionArgument, rawjson.Encode(clientKey(toolRun.Client)))
	return b.Bridge.Start(ctx, toolRun, untrustedTextSink{sink, wire.UntrustedPage{Origin: originOf(toolRun.Target.URL), TabID: toolRun.Target.TabID}})
}

// untrustedTextSink marks page text in errors as untrusted data.
type untrustedTextSink struct {
	dispatch.Sink
	page wire.UntrustedPage
}

// Finish implements dispatch.Sink.
func (s untrustedTextSink) Finish(toolOutput json.RawMessage, err *wire.CallError) {
	if err != nil && err.PageText != "" {
		enclosedErr := *err
		enclosedErr.PageText, enclosedErr.UntrustedPages = encloseUntrusted(err.PageText, s.page.Origin), []wire.UntrustedPage{s.page}
		err = &enclosedErr
	}
	s.Sink.Finish(toolOutput, err)
}

// For a dangerous tool that uses no tab, such as browser_history, the rules for reading apply.
func frameRuleClass(toolRun dispatch.Run) toolClass {
	c := classOfTool(toolRun.Tool, toolRun.Args)
	if toolRun.TargetKind == dispatch.TargetBrowser && c == classDangerous {
		return classRead
	}
	return c
}

// The method Cancel implements dispatch.Bridge. If a batch is cancelled, its running step
// still ends, but no further step starts.
func (b *toolBridge) Cancel(id, reason string, onOutcome func(wire.CancelOutcome)) {
	if !b.batches.cancel(id) {
		b.Bridge.Cancel(id, reason, onOutcome)
		return
	}
	onOutcome(wire.CancelAborted)
}

// Answer implements dispatch.Bridge by delivering the result of a nested call to the browser
// tool that made the call.
func (b *toolBridge) Answer(id string, askID int, toolOutput json.RawMessage, err *wire.CallError) {
	if !b.batches.respond(id, toolOutput, err) {
		b.Bridge.Answer(id, askID, toolOutput, err)
	}
}

func setMember(object json.RawMessage, key string, valueJSON json.RawMessage) json.RawMessage {
	members := []rawjson.Member{}
	for m := range rawjson.Members(object) {
		members = append(members, m)
	}
	return rawjson.JoinMembers(append(members, rawjson.Member{Key: key, QuotedKey: rawjson.Encode(key), Value: valueJSON}))
}

func removeMembers(object json.RawMessage, keys ...string) json.RawMessage {
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
