package browser

import (
	"fmt"
	"slices"
	"strings"

	"opentabs/dispatch"
	"opentabs/wire"
)

// capabilityDebugger is the capability of an extension that is allowed to use Chrome's
// debugger.
const capabilityDebugger = "debugger"

var capabilityTexts = map[string]struct{ errorMessage, userText string }{
	capabilityDebugger: {
		"no connected browser has Chrome's debugger, which this tool needs; the user can add it with: opentabs extension install --debugger",
		"No connected browser has Chrome's debugger, which this tool needs. To add it, run `opentabs extension install --debugger`.",
	},
}

// CheckCapability returns an error if no connected browser has the capability that a
// browser tool needs. The argument capabilities lists each capability that at least one
// connected browser has.
func CheckCapability(tool string, capabilities []string) *wire.CallError {
	d := definitionOf(tool)
	if d == nil || d.capability == "" || slices.Contains(capabilities, d.capability) {
		return nil
	}
	texts := capabilityTexts[d.capability]
	return &wire.CallError{Code: wire.ErrNoBrowser, Message: texts.errorMessage, UserText: texts.userText}
}

// codeNeedsPermission is the error code, in server and extension, of a call whose tool lacks a Chrome permission.
const codeNeedsPermission = "needs_permission"

var permissionTitles = map[string]string{
	"bookmarks":    "Bookmarks",
	"browsingData": "Deleting the data of sites",
	"cookies":      "Cookies",
	"downloads":    "Downloads",
	"history":      "History",
	"sessions":     "Recently closed tabs",
	"tabGroups":    "Tab groups",
}

// permissionGate blocks calls whose tool lacks a Chrome permission, so that no user
// approves a call that cannot run.
type permissionGate struct {
	// If capabilitiesOf is nil, the permissionGate allows every call.
	capabilitiesOf func(browserID string) []string
}

// The method Name implements dispatch.Gate.
func (permissionGate) Name() string { return "chrome-permission" }

// The method Decide implements dispatch.Gate. Decide allows the call if no browser has been
// chosen for the call yet.
func (g permissionGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	if g.capabilitiesOf == nil || callInfo.Tool.Plugin != Name || callInfo.Target.Browser == "" {
		return dispatch.Verdict{}
	}
	d := definitionOf(callInfo.Tool.Name)
	if d == nil || len(d.permissions) == 0 {
		return dispatch.Verdict{}
	}
	granted := g.capabilitiesOf(callInfo.Target.Browser)
	missingPermissions := slices.DeleteFunc(slices.Clone(d.permissions), func(name string) bool { return slices.Contains(granted, name) })
	if len(missingPermissions) == 0 {
		return dispatch.Verdict{}
	}
	var titles []string
	for _, name := range missingPermissions {
		titles = append(titles, permissionTitles[name])
	}
	noun := "permission"
	if len(missingPermissions) > 1 {
		noun = "permissions"
	}
	errorSentence := fmt.Sprintf("%s needs Chrome's %s %s", d.name, noun, quoteAll(missingPermissions))
	return dispatch.Verdict{BlockError: &wire.CallError{
		Code: wire.ErrToolError, NotStarted: true, Tool: &wire.ToolErrorInfo{Code: codeNeedsPermission},
		Message:  fmt.Sprintf("%s. Ask the user to open the side panel of opentabs and to switch on %s under Browser, Permissions of Chrome", errorSentence, quoteAll(titles)),
		UserText: fmt.Sprintf("%s. Open the side panel of opentabs and switch on %s under Browser, Permissions of Chrome.", errorSentence, quoteAll(titles)),
	}}
}

func quoteAll(texts []string) string {
	quotedNames := make([]string, len(texts))
	for i, text := range texts {
		quotedNames[i] = fmt.Sprintf("%q", text)
	}
	return strings.Join(quotedNames, " and ")
}
