package browser

import "opentabs/dispatch"

const (
	tabProperty      = `"tabId":{"type":"integer"}`
	targetProperty   = `"target":{"type":"string","description":"Such as e12."}`
	elementProperty  = `"element":{"type":"string","description":"In words, for the user."}`
	snapshotProperty = `"snapshot":{"enum":["diff","none","full"]}`
)

// coreTools are the browser tools that are on by default. Tools with a counterpart in Playwright MCP have its names for
// tool and arguments, which language models are trained on.
var coreTools = []toolDefinition{
	{
		name: toolTabs, title: "Tabs", targetKind: dispatch.TargetBrowser, class: classAct, readOnlyActions: []string{"list", "select"},
		toolDescription: "List, open, select or close tabs of the user's browser. A new tab opens in the background and becomes your current tab, which other tools use without tabId. " +
			"select without tabId selects the tab that the user looks at.",
		properties: `"action":{"enum":["list","new","select","close"]},"url":{"type":"string","description":"For new."},` +
			`"tabId":{"type":"integer"},"focus":{"type":"boolean","description":"Show the tab to the user."},"query":{"type":"string","description":"For list: part of title or host."}`,
		requiredArgs: []string{"action"},
	},
	{
		name: toolNavigate, title: "Navigate", targetKind: dispatch.TargetTab, class: classAct,
		toolDescription: "Open a URL in your current tab, or go back, forward or reload. Returns the new page, folded.",
		properties: `"url":{"type":"string","description":"http or https."},"go":{"enum":["back","forward","reload"]},` +
			`"waitUntil":{"enum":["commit","domcontentloaded","load"],"description":"Default: load."},` + snapshotProperty + `,` + tabProperty,
	},
	{
		name: "browser_navigate_back", title: "Back", targetKind: dispatch.TargetTab, class: classAct,
		toolDescription: "Go back to the previous page.", properties: tabProperty,
	},
	{
		name: "browser_snapshot", title: "Snapshot", targetKind: dispatch.TargetPage, class: classRead,
		toolDescription: "Read the page as a tree of roles, names and refs. Use the refs as target of other tools. Long lists are folded; pass target to unfold one.",
		properties: targetProperty + `,"mode":{"enum":["full","interactive","viewport"],"description":"Default: full."},` +
			`"since":{"type":"string","description":"ID of an earlier snapshot: only what changed."},"depth":{"type":"integer","minimum":1},` +
			`"maxTokens":{"type":"integer","minimum":0,"description":"Default: 6000. 0: no limit."},` + tabProperty,
	},
	{
		name: "browser_find", title: "Find", targetKind: dispatch.TargetPage, class: classRead,
		toolDescription: "Find elements by text, regular expression, role or CSS selector. Returns lines with refs.",
		properties: `"text":{"type":"string"},"regex":{"type":"string"},"role":{"type":"string"},"selector":{"type":"string"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":200},` + tabProperty,
	},
	{
		name: "browser_click", title: "Click", targetKind: dispatch.TargetPage, class: classAct,
		toolDescription: "Click an element as soon as it is visible, still and enabled. Returns what changed; snapshot: full returns the page.",
		properties: targetProperty + `,` + elementProperty + `,"button":{"enum":["left","right","middle"]},"doubleClick":{"type":"boolean"},` +
			`"modifiers":{"type":"array","items":{"enum":["Alt","Control","Meta","Shift"]}},` + snapshotProperty + `,` + tabProperty,
		requiredArgs: []string{"target"},
	},
	{
		name: toolType, title: "Type", targetKind: dispatch.TargetPage, class: classAct,
		toolDescription: "Replace the text of a field. Returns the field's value after it, and what changed.",
		properties: targetProperty + `,` + elementProperty + `,"text":{"type":"string"},"append":{"type":"boolean","description":"Keep the present text."},` +
			`"slowly":{"type":"boolean","description":"One key at a time."},"submit":{"type":"boolean","description":"Press Enter afterwards."},` + snapshotProperty + `,` + tabProperty,
		requiredArgs: []string{"target", "text"},
	},
	{
		name: toolFillForm, title: "Fill a form", targetKind: dispatch.TargetPage, class: classAct,
		toolDescription: "Fill several fields: text, true or false for checkboxes, or the option of a list.",
		properties: `"fields":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","properties":{"target":{"type":"string"},` +
			`"value":{"type":["string","boolean","number","array"]}},"required":["target","value"]}},"submit":{"type":"boolean"},` + snapshotProperty + `,` + tabProperty,
		requiredArgs: []string{"fields"},
	},
	{
		name: "browser_select_option", title: "Select an option", targetKind: dispatch.TargetPage, class: classAct,
		toolDescription: "Choose options of a list by value or label, also of ARIA listboxes.",
		properties:      targetProperty + `,` + elementProperty + `,"values":{"type":"array","items":{"type":"string"}},` + snapshotProperty + `,` + tabProperty,
		requiredArgs:    []string{"target", "values"},
	},
	{
		name: "browser_hover", title: "Hover", targetKind: dispatch.TargetPage, class: classAct,
		toolDescription: "Move the pointer over an element.",
		properties:      targetProperty + `,` + elementProperty + `,` + snapshotProperty + `,` + tabProperty,
		requiredArgs:    []string{"target"},
	},
	{
		name: "browser_drag", title: "Drag", targetKind: dispatch.TargetPage, class: classAct,
		toolDescription: "Drag one element onto another, or by an offset.",
		properties: `"startTarget":{"type":"string"},"startElement":{"type":"string"},"endTarget":{"type":"string"},"endElement":{"type":"string"},` +
			`"offset":{"type":"object","description":"In place of endTarget. Pixels.","properties":{"x":{"type":"number"},"y":{"type":"number"}}},` +
			snapshotProperty + `,` + tabProperty,
		requiredArgs: []string{"startTarget"},
	},
	{
		name: toolPressKey, title: "Press a key", targetKind: dispatch.TargetPage, class: classAct,
		toolDescription: "Press a key or a combination, such as Enter, ArrowDown or Control+a.",
		properties:      `"key":{"type":"string","minLength":1,"maxLength":50},` + targetProperty + `,` + snapshotProperty + `,` + tabProperty,
		requiredArgs:    []string{"key"},
	},
	{
		name: "browser_scroll", title: "Scroll", targetKind: dispatch.TargetPage, class: classRead,
		toolDescription: "Scroll an element into view, or scroll the page or a scrollable element. Returns the position and what came into view.",
		properties: targetProperty + `,"direction":{"enum":["up","down","left","right","top","bottom"]},` +
			`"amount":{"type":"integer","minimum":1,"description":"Pixels. Default: a page."},` + tabProperty,
	},
	{
		name: toolUpload, title: "Upload files", targetKind: dispatch.TargetPage, class: classAct,
		toolDescription: "Put files of the user's computer into a file field or onto a drop zone. Only files in folders that the user allows.",
		properties: `"paths":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":20,"description":"Absolute paths."},` +
			targetProperty + `,` + elementProperty + `,` + snapshotProperty + `,` + tabProperty,
		requiredArgs: []string{"paths", "target"},
	},
	{
		name: "browser_handle_dialog", title: "Answer a dialog", targetKind: dispatch.TargetPage, class: classAct, capability: capabilityDebugger,
		toolDescription: "Answer the dialog (alert, confirm, prompt, Leave site?) that the page shows. Returns what happened afterwards.",
		properties:      `"accept":{"type":"boolean"},"promptText":{"type":"string"},` + tabProperty,
		requiredArgs:    []string{"accept"},
	},
	{
		name: "browser_wait_for", title: "Wait for", targetKind: dispatch.TargetPage, class: classRead,
		toolDescription: "Wait until a text appears or disappears, a selector has a state, or the address matches; or for a number of seconds.",
		properties: `"text":{"type":"string"},"textGone":{"type":"string"},"selector":{"type":"string"},"state":{"enum":["visible","hidden","attached","detached"]},` +
			`"url":{"type":"string","description":"A part of the address."},"time":{"type":"number","minimum":0,"maximum":240,"description":"Seconds."},` +
			`"timeout":{"type":"number","minimum":0.1,"maximum":240,"description":"Seconds. Default: 30."},` + tabProperty,
	},
	{
		name: toolScreenshot, title: "Screenshot", targetKind: dispatch.TargetPage, class: classRead,
		toolDescription: "Take a picture of the page or of an element. Pictures of background tabs, of the full page and of elements in frames need the debugger.",
		properties: targetProperty + `,"fullPage":{"type":"boolean"},"type":{"enum":["webp","jpeg","png"]},` +
			`"maxWidth":{"type":"integer","minimum":100,"maximum":4000},` + tabProperty,
	},
	{
		name: "browser_read_page", title: "Read the page", targetKind: dispatch.TargetPage, class: classRead,
		toolDescription: "Read the page's text as markdown, plain text or HTML, in parts: pass the cursor of an answer to get the next.",
		properties: `"format":{"enum":["markdown","text","html"]},` + targetProperty + `,"maxTokens":{"type":"integer","minimum":100,"maximum":100000},` +
			`"cursor":{"type":"string"},` + tabProperty,
	},
	{
		name: toolBatch, title: "Batch", targetKind: dispatch.TargetBrowser, class: classAct,
		toolDescription: "Run several browser tools one after the other, and stop at the first that fails. Returns the result of each step.",
		properties: `"steps":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"object","properties":{` +
			`"tool":{"type":"string","description":"Such as browser_click."},"args":{"type":"object"}},"required":["tool"],"additionalProperties":false}}`,
		requiredArgs: []string{"steps"},
	},
}
