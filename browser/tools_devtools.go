package browser

import (
	"encoding/json"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// toolEvaluate is the name of the browser tool that runs an agent's code in a page.
const toolEvaluate = "browser_evaluate"

var devtoolsTools = []toolDefinition{
	{
		name: "browser_console_messages", title: "Console messages", targetKind: dispatch.TargetPage, class: classRead, capability: capabilityDebugger,
		toolDescription: "Read the page's console messages and uncaught errors, also those from before the call.",
		properties: `"level":{"enum":["error","warning","info","debug"],"description":"This level and more severe ones. Default: info."},` +
			`"since":{"type":"number","minimum":0,"description":"From an earlier answer."},"clear":{"type":"boolean","description":"Later calls leave out the messages until now."},` + tabProperty,
	},
	{
		name: toolEvaluate, title: "Evaluate", targetKind: dispatch.TargetPage, class: classDangerous, hasReadCursor: true,
		toolDescription: "Run JavaScript in the page and return its result as JSON, in parts: pass the cursor of one answer to get the next part.",
		properties: `"function":{"type":"string","minLength":1,"description":"Such as () => document.title, or (element) => element.value with target."},` +
			targetProperty + `,"world":{"enum":["main","isolated"],"description":"Default: main. isolated: same DOM, own globals."},` + cursorProperty + `,` + tabProperty,
	},
	{
		name: "browser_resources", title: "Resources", targetKind: dispatch.TargetPage, class: classRead, capability: capabilityDebugger,
		toolDescription: "List the files that the page loaded; with the whole URL of one, read its text.",
		properties: `"url":{"type":"string","description":"Part of a URL, or one whole URL."},"type":{"enum":["document","stylesheet","script","image","font","media","fetch","xhr","manifest","other"]},` +
			cursorProperty + `,` + tabProperty,
	},
	{
		name: "browser_get_styles", title: "Styles", targetKind: dispatch.TargetPage, class: classRead,
		toolDescription: "Read the computed styles of an element and the CSS rules that match it.",
		properties: targetProperty + `,"properties":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":100},` +
			`"forceState":{"type":"array","items":{"enum":["hover","focus","focus-within","focus-visible","active","visited"]},"description":"Pseudo-classes for this call."},` + tabProperty,
		requiredArgs: []string{"target"},
	},
	{
		name: "browser_performance", title: "Performance", targetKind: dispatch.TargetPage, class: classRead, actingArgument: "reload", capability: capabilityDebugger,
		toolDescription: "Measure TTFB, FCP, LCP, INP, CLS and long tasks from start to stop, and write a trace file.",
		properties:      `"action":{"enum":["start","stop"]},"reload":{"type":"boolean","description":"For start: measure a load."},` + tabProperty,
		requiredArgs:    []string{"action"},
	},
	{
		name: "browser_css_coverage", title: "CSS coverage", targetKind: dispatch.TargetPage, class: classRead, capability: capabilityDebugger,
		toolDescription: "Record which CSS the page uses between start and stop, also across navigations. Returns used and all characters per style sheet.",
		properties:      `"action":{"enum":["start","stop"]},` + tabProperty,
		requiredArgs:    []string{"action"},
	},
}

// checkEvaluate blocks code that is too long to show in a request for approval.
func checkEvaluate(args json.RawMessage) dispatch.Verdict {
	hasCode, hasCursor := rawjson.Get(args, "function") != nil, rawjson.Get(args, "cursor") != nil
	switch {
	case hasCode == hasCursor:
		return newInvalidVerdict(`browser_evaluate takes either "function" or "cursor"`)
	case len(args) > wire.MaxShownArgsBytes:
		return newInvalidVerdict("the arguments have %d bytes, more than a request for approval can show (%d bytes); split the code", len(args), wire.MaxShownArgsBytes)
	}
	return dispatch.Verdict{}
}
