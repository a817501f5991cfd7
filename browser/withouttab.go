package browser

import (
	"encoding/json"
	"fmt"
	"slices"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// tabList is the site of an approval to see the list of tabs, of windows and of tab groups.
const tabList = "the list of open tabs"

// dataScopes are the scopes of approvals for data of the browser.
var dataScopes = []wire.Scope{wire.ScopeOnce, wire.ScopeSession, wire.ScopeTime}

// decideTabList decides whether a client may see which tabs are open.
func (s *siteGate) decideTabList(callInfo dispatch.CallInfo) dispatch.Verdict {
	_, everySite := s.rules.RuleFor("")
	if everySite.Rule == policy.SiteAuto || everySite.Rule == policy.SiteRead || s.isApproved(callInfo, classRead, tabList) {
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: tabList, Reason: policy.RequesterText(callInfo) + " wants to see which tabs are open, with their titles and hosts",
	}}
}

// decideWithoutTab decides about a call of a tool that uses no tab: by the address in its
// arguments, or else by the data of the browser that the tool uses.
func (s *siteGate) decideWithoutTab(callInfo dispatch.CallInfo, d *toolDefinition) dispatch.Verdict {
	switch d.name {
	case toolWindows:
		return s.decideWindow(callInfo)
	case toolTabGroups:
		return s.decideTabGroup(callInfo)
	case toolDownloads:
		return s.decideDownload(callInfo)
	}
	if address := textArgument(callInfo.Args, d.addressArgument); address != "" {
		if v := checkOpenable(address); v.Block != nil {
			return v
		}
		return s.decideAddress(callInfo, classOf(callInfo), address)
	}
	if d.data == "" { // the schema of the tool requires the address
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, "%s needs %q", d.name, d.addressArgument)
	}
	class := classOf(callInfo)
	if s.isApproved(callInfo, class, d.data) {
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: d.data,
		Reason: fmt.Sprintf("%s wants to %s %s (%s)", policy.RequesterText(callInfo), useVerb(class), d.data, d.name),
		Scopes: dataScopes,
	}}
}

// textArgument returns an argument that is a text, empty if there is none.
func textArgument(args json.RawMessage, name string) string {
	var text string
	if value := rawjson.Get(args, name); value != nil {
		_ = json.Unmarshal(value, &text) // the arguments match the schema of the tool
	}
	return text
}

// useVerb returns what a class of tools does with data of the browser.
func useVerb(class class) string {
	if class == classRead {
		return "see"
	}
	return "use"
}

// decideWindow decides about a call of browser_windows. The user approves changes of
// windows that the client did not open. Closing needs an approval each time.
func (s *siteGate) decideWindow(callInfo dispatch.CallInfo) dispatch.Verdict {
	var args struct {
		Action   string `json:"action"`
		URL      string `json:"url"`
		WindowID int    `json:"windowId"`
	}
	_ = json.Unmarshal(callInfo.Args, &args) // the arguments match the schema of the tool
	isClosing := args.Action == "close"
	switch {
	case args.Action == "list":
		return s.decideTabList(callInfo)
	case args.Action == "new" && args.URL == "":
		return dispatch.Verdict{}
	case args.Action == "new":
		return s.decideOpening(callInfo, args.URL)
	case args.WindowID == 0:
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, `browser_windows needs "windowId" to %s a window`, args.Action)
	case s.tabs.isWindowOfClient(callInfo, args.WindowID):
		return dispatch.Verdict{}
	}
	listed, ok := s.tabs.listedWindow(callInfo.Target.Browser, args.WindowID)
	if !ok { // the user can approve only a window that the request describes
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, `the window %d is unknown; list the windows first with browser_windows {"action":"list"}`, args.WindowID)
	}
	request := dispatch.Ticket{
		Kind: wire.TicketPermission, Title: fmt.Sprintf("window %d", args.WindowID),
		Reason: fmt.Sprintf("%s wants to %s the window with %s", policy.RequesterText(callInfo), map[bool]string{true: "close", false: "move, resize or focus"}[isClosing], listed.description()),
	}
	if isClosing { // the approval is not for tabs that a later list adds
		request.Title += " with " + listed.description()
	}
	if s.isCallApproved(callInfo, request.Title) {
		return dispatch.Verdict{}
	}
	if !isClosing {
		if s.isApproved(callInfo, classAct, request.Title) {
			return dispatch.Verdict{}
		}
		request.Scopes = dataScopes
	}
	return dispatch.Verdict{Suspend: &request}
}

// tabGroups is the site of an approval to change tab groups.
const tabGroups = "the tab groups of the browser"

// decideTabGroup decides about a call of browser_tab_groups. A client may group the tabs
// that it opened. The user approves other changes.
func (s *siteGate) decideTabGroup(callInfo dispatch.CallInfo) dispatch.Verdict {
	var args struct {
		Action string `json:"action"`
		TabIDs []int  `json:"tabIds"`
	}
	_ = json.Unmarshal(callInfo.Args, &args) // the arguments match the schema of the tool
	isForeign := func(tabID int) bool {
		one := callInfo
		one.Target.TabID = tabID
		return !s.tabs.isOpenedByClient(one)
	}
	switch {
	case args.Action == "list":
		return s.decideTabList(callInfo)
	case args.Action != "update" && len(args.TabIDs) == 0:
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, `browser_tab_groups needs "tabIds" for %q`, args.Action)
	case (args.Action == "create" || args.Action == "remove") && !slices.ContainsFunc(args.TabIDs, isForeign), s.isApproved(callInfo, classAct, tabGroups):
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: tabGroups, Reason: fmt.Sprintf("%s wants to change %s (%s)", policy.RequesterText(callInfo), tabGroups, callInfo.Tool.Name), Scopes: dataScopes,
	}}
}

// decideDownload decides about a call of browser_downloads. The user approves the site of
// a new download as an act, and each download of a program. Other actions concern only
// downloads that the client started.
func (s *siteGate) decideDownload(callInfo dispatch.CallInfo) dispatch.Verdict {
	action, address := textArgument(callInfo.Args, "action"), textArgument(callInfo.Args, "url")
	id, hasID := downloadIDOf(callInfo.Args)
	switch {
	case action == "list":
		return dispatch.Verdict{}
	case action != "start" && !hasID:
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, `browser_downloads needs "id" for the action %s`, action)
	case action != "start" && !s.tabs.isDownloadOfClient(callInfo, id):
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, `you have started no download %d in this browser; list your downloads with browser_downloads {"action":"list"}`, id)
	case action != "start":
		return dispatch.Verdict{}
	case address == "":
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, `browser_downloads needs "url" for the action start`)
	}
	if v := checkOpenable(address); v.Block != nil {
		return v
	}
	verdict, name, site := s.decideAddress(callInfo, classOf(callInfo), address), downloadName(address), siteOf(address)
	if isProgram(name) && verdict.Block == nil { // neither a rule nor an earlier approval allows a program
		title := fmt.Sprintf("%q from %s", name, site)
		if s.isCallApproved(callInfo, title) {
			return dispatch.Verdict{}
		}
		return dispatch.Verdict{Suspend: &dispatch.Ticket{
			Kind: wire.TicketPermission, Title: title, Reason: fmt.Sprintf("%s wants to download %s, which is a program or a script", policy.RequesterText(callInfo), title),
		}}
	}
	if verdict.Suspend != nil {
		verdict.Suspend.Reason += fmt.Sprintf(": download %q", name)
	}
	return verdict
}

// downloadIDOf returns the download that a call of browser_downloads names.
func downloadIDOf(args json.RawMessage) (id int, isNamed bool) {
	value := rawjson.Get(args, "id")
	isNamed = value != nil && json.Unmarshal(value, &id) == nil
	return id, isNamed
}
