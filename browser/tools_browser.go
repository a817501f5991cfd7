package browser

import "opentabs/dispatch"

const (
	toolWindows   = "browser_windows"
	toolTabGroups = "browser_tab_groups"
	toolNotify    = "browser_notify"
	toolDownloads = "browser_downloads"
)

// windowsTools are the browser tools that manage browser windows and the user's browser
// data, such as history and bookmarks.
var windowsTools = []toolDefinition{
	{
		name: toolWindows, title: "Windows", targetKind: dispatch.TargetBrowser, class: classAct, readOnlyActions: []string{"list"}, browserData: "the windows of the browser",
		toolDescription: "List, open, change or close windows. A new window opens without focus, and its tab becomes your current tab.",
		properties: `"action":{"enum":["list","new","update","close"]},"windowId":{"type":"integer"},"url":{"type":"string"},` +
			`"state":{"enum":["normal","minimized","maximized","fullscreen"]},"left":{"type":"integer"},"top":{"type":"integer"},` +
			`"width":{"type":"integer","minimum":100},"height":{"type":"integer","minimum":100},"focus":{"type":"boolean"}`,
		requiredArgs: []string{"action"},
	},
	{
		name: toolTabGroups, title: "Tab groups", targetKind: dispatch.TargetBrowser, class: classAct, readOnlyActions: []string{"list"}, browserData: tabGroupsTitle, permissions: []string{"tabGroups"},
		toolDescription: "List tab groups, create or update one, or add tabs to one or remove them.",
		properties: `"action":{"enum":["list","create","add","remove","update"]},"groupId":{"type":"integer"},"tabIds":{"type":"array","items":{"type":"integer"},"minItems":1},` +
			`"title":{"type":"string","maxLength":100},"color":{"enum":["grey","blue","red","yellow","green","pink","purple","cyan","orange"]},"collapsed":{"type":"boolean"}`,
		requiredArgs: []string{"action"},
	},
	{
		name: "browser_history", title: "History", targetKind: dispatch.TargetBrowser, class: classDangerous, browserData: "the history of the browser", permissions: []string{"history"},
		toolDescription: "Search the history by text, or list the visits of a URL.",
		properties: `"query":{"type":"string"},"url":{"type":"string"},"from":{"type":"string","description":"A date. Default: 24 hours ago."},"to":{"type":"string"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":1000}`,
	},
	{
		name: "browser_bookmarks", title: "Bookmarks", targetKind: dispatch.TargetBrowser, class: classAct, readOnlyActions: []string{"search", "tree"}, browserData: "the bookmarks of the browser", permissions: []string{"bookmarks"},
		toolDescription: "Search bookmarks, list a folder's tree, or create a bookmark, or a folder without url.",
		properties: `"action":{"enum":["search","tree","create"]},"query":{"type":"string"},"folder":{"type":"string","description":"ID. Default: all; for create other bookmarks."},` +
			`"depth":{"type":"integer","minimum":1},"title":{"type":"string","maxLength":500},"url":{"type":"string"},` + cursorProperty,
		requiredArgs: []string{"action"},
	},
	{
		name: "browser_recently_closed", title: "Recently closed", targetKind: dispatch.TargetBrowser, class: classAct, readOnlyActions: []string{"list"}, browserData: "the recently closed tabs", permissions: []string{"sessions"},
		toolDescription: "List recently closed tabs and windows, or restore one.",
		properties:      `"action":{"enum":["list","restore"]},"sessionId":{"type":"string"}`,
		requiredArgs:    []string{"action"},
	},
	{
		name: toolDownloads, title: "Downloads", targetKind: dispatch.TargetBrowser, class: classAct, readOnlyActions: []string{"list", "wait"}, addressArgument: "url", browserData: "your downloads", permissions: []string{"downloads"},
		toolDescription: "Download a URL into the folder opentabs; list, wait for or cancel your downloads.",
		properties:      `"action":{"enum":["start","list","wait","cancel"]},"url":{"type":"string"},"id":{"type":"integer"}`,
		requiredArgs:    []string{"action"},
	},
	{
		name: "browser_pdf_save", title: "Save as PDF", targetKind: dispatch.TargetPage, class: classRead, capability: capabilityDebugger,
		toolDescription: "Print the page into a PDF file, and return a link to it.",
		properties:      `"landscape":{"type":"boolean"},` + tabProperty,
	},
	{
		name: toolNotify, title: "Notify", targetKind: dispatch.TargetBrowser, class: classAct, browserData: "notifications of the desktop",
		toolDescription: "Show the user a notification.",
		properties:      `"title":{"type":"string","minLength":1,"maxLength":100},"message":{"type":"string","maxLength":500}`,
		requiredArgs:    []string{"title", "message"},
	},
}
