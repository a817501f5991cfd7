package browser

import (
	"encoding/json"
	"fmt"
	"slices"

	"opentabs/dispatch"
	"opentabs/dispatch/errtext"
	"opentabs/internal/rawjson"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

const tabListTitle = "the list of open tabs"

var browserDataScopes = []wire.Scope{wire.ScopeOnce, wire.ScopeSession, wire.ScopeTime}

func (s *siteGate) decideTabList(callInfo dispatch.CallInfo) dispatch.Verdict {
	_, allSitesRule := s.rules.RuleFor("")
	if allSitesRule.Rule == policy.SiteAuto || allSitesRule.Rule == policy.SiteRead || s.isApproved(callInfo, classRead, tabListTitle) {
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: tabListTitle, Reason: policy.RequesterText(callInfo) + " wants to see which tabs are open, with their titles and hosts",
	}}
}

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
		if v := checkOpenable(address); v.BlockError != nil {
			return v
		}
		return s.decideAddress(callInfo, classOf(callInfo), address)
	}
	if d.browserData == "" {
		return newInvalidVerdict("%s needs %q", d.name, d.addressArgument)
	}
	class := classOf(callInfo)
	if s.isApproved(callInfo, class, d.browserData) {
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: d.browserData,
		Reason: fmt.Sprintf("%s wants to %s %s (%s)", policy.RequesterText(callInfo), verbForClass(class), d.browserData, d.name),
		Scopes: browserDataScopes,
	}}
}

func textArgument(args json.RawMessage, name string) string {
	var argumentText string
	if valueJSON := rawjson.Get(args, name); valueJSON != nil {
		_ = json.Unmarshal(valueJSON, &argumentText)
	}
	return argumentText
}

func verbForClass(class toolClass) string {
	if class == classRead {
		return "see"
	}
	return "use"
}

// If a client changes a window that it did not open, the user must approve the change. An approval to close a window
// covers only one call.
func (s *siteGate) decideWindow(callInfo dispatch.CallInfo) dispatch.Verdict {
	var args struct {
		Action   string `json:"action"`
		URL      string `json:"url"`
		WindowID int    `json:"windowId"`
	}
	_ = json.Unmarshal(callInfo.Args, &args)
	isClosing := args.Action == "close"
	switch {
	case args.Action == "list":
		return s.decideTabList(callInfo)
	case args.Action == "new" && args.URL == "":
		return dispatch.Verdict{}
	case args.Action == "new":
		return s.decideOpening(callInfo, args.URL)
	case args.WindowID == 0:
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, fmt.Sprintf(`browser_windows needs "windowId" to %s a window`, args.Action),
			errtext.AppendNextUserStep(wire.ErrInvalidArguments, fmt.Sprintf("The call names no window to %s.", args.Action)))
	case s.tabs.isWindowOfClient(callInfo, args.WindowID):
		return dispatch.Verdict{}
	}
	listedWindow, ok := s.tabs.listedWindow(callInfo.Target.Browser, args.WindowID)
	if !ok { // without a listed window, the request for approval could not describe it
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments,
			fmt.Sprintf(`the window %d is unknown; list the windows first with browser_windows {"action":"list"}`, args.WindowID),
			fmt.Sprintf("The client of this call has not listed the window %d. List the windows, then retry.", args.WindowID))
	}
	request := dispatch.Ticket{
		Kind: wire.TicketPermission, Title: fmt.Sprintf("window %d", args.WindowID),
		Reason: fmt.Sprintf("%s wants to %s the window with %s", policy.RequesterText(callInfo), map[bool]string{true: "close", false: "move, resize or focus"}[isClosing], listedWindow.description()),
	}
	if isClosing { // the approval covers only the tabs in this description
		request.Title += " with " + listedWindow.description()
	}
	if s.isCallApproved(callInfo, request.Title) {
		return dispatch.Verdict{}
	}
	if !isClosing {
		if s.isApproved(callInfo, classAct, request.Title) {
			return dispatch.Verdict{}
		}
		request.Scopes = browserDataScopes
	}
	return dispatch.Verdict{Suspend: &request}
}

const tabGroupsTitle = "the tab groups of the browser"

// A client may group the tabs that it has opened. A client needs the user's approval to change a tab group that
// contains tabs of the user or of other clients.
func (s *siteGate) decideTabGroup(callInfo dispatch.CallInfo) dispatch.Verdict {
	var args struct {
		Action string `json:"action"`
		TabIDs []int  `json:"tabIds"`
	}
	_ = json.Unmarshal(callInfo.Args, &args)
	isNotClientsTab := func(tabID int) bool {
		callOnTab := callInfo
		callOnTab.Target.TabID = tabID
		return !s.tabs.isOpenedByClient(callOnTab)
	}
	switch {
	case args.Action == "list":
		return s.decideTabList(callInfo)
	case args.Action != "update" && len(args.TabIDs) == 0:
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, fmt.Sprintf(`browser_tab_groups needs "tabIds" for %q`, args.Action),
			errtext.AppendNextUserStep(wire.ErrInvalidArguments, fmt.Sprintf("The call names no tabs for the action %s.", args.Action)))
	case (args.Action == "create" || args.Action == "remove") && !slices.ContainsFunc(args.TabIDs, isNotClientsTab), s.isApproved(callInfo, classAct, tabGroupsTitle):
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: tabGroupsTitle, Reason: fmt.Sprintf("%s wants to change %s (%s)", policy.RequesterText(callInfo), tabGroupsTitle, callInfo.Tool.Name), Scopes: browserDataScopes,
	}}
}

// The start of a download counts as an acting call on the site of the download's URL. Each download of a program needs
// the user's approval. A client may wait for and cancel only downloads that it has started.
func (s *siteGate) decideDownload(callInfo dispatch.CallInfo) dispatch.Verdict {
	action, address := textArgument(callInfo.Args, "action"), textArgument(callInfo.Args, "url")
	id, hasID := downloadIDOf(callInfo.Args)
	switch {
	case action == "list":
		return dispatch.Verdict{}
	case action != "start" && !hasID:
		return newInvalidVerdict(`browser_downloads needs "id" for the action %s`, action)
	case action != "start" && !s.tabs.isDownloadOfClient(callInfo, id):
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments,
			fmt.Sprintf(`you have started no download %d in this browser; list your downloads with browser_downloads {"action":"list"}`, id),
			fmt.Sprintf("The client of this call has started no download %d in this browser. List its downloads, then retry.", id))
	case action != "start":
		return dispatch.Verdict{}
	case address == "":
		return newInvalidVerdict(`browser_downloads needs "url" for the action start`)
	}
	if v := checkOpenable(address); v.BlockError != nil {
		return v
	}
	verdict, name, site := s.decideAddress(callInfo, classOf(callInfo), address), downloadName(address), originOf(address)
	if isProgram(name) && verdict.BlockError == nil {
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

func downloadIDOf(args json.RawMessage) (id int, hasDownloadID bool) {
	valueJSON := rawjson.Get(args, "id")
	hasDownloadID = valueJSON != nil && json.Unmarshal(valueJSON, &id) == nil
	return id, hasDownloadID
}
