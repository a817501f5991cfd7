package browser

import "opentabs/dispatch"

var networkTools = []toolDefinition{
	{
		name: "browser_network_requests", title: "Requests", targetKind: dispatch.TargetPage, class: classRead,
		toolDescription: "List the page's requests: number, method, status, type, size, time, URL. The first use starts the recording; reload to record a page from its start.",
		properties: `"filter":{"type":"string","description":"Part of the URL."},"types":{"type":"array","items":{"type":"string"},"description":"Such as document, fetch, xhr, script."},` +
			`"static":{"type":"boolean","description":"Also scripts, styles, images."},"since":{"type":"integer","description":"Only after this number."},` + tabProperty,
	},
	{
		name: "browser_network_request", title: "Request", targetKind: dispatch.TargetPage, class: classRead, capability: capabilityDebugger,
		toolDescription: "Show headers, bodies and timing of a recorded request. Secrets are masked.",
		properties: `"index":{"type":"integer","description":"Its number in the list."},"part":{"enum":["headers","requestBody","responseBody"],"description":"Default: all, shortened."},` +
			`"cursor":{"type":"integer","minimum":0},` + tabProperty,
		requiredArgs: []string{"index"},
	},
	{
		name: "browser_websocket_messages", title: "WebSocket messages", targetKind: dispatch.TargetPage, class: classRead, capability: capabilityDebugger,
		toolDescription: "List recorded messages of the page's WebSockets and event streams.",
		properties:      `"filter":{"type":"string","description":"Part of the URL."},"since":{"type":"integer","description":"Only after this number."},` + tabProperty,
	},
	{
		name: "browser_har_export", title: "Export HAR", targetKind: dispatch.TargetPage, class: classRead, capability: capabilityDebugger,
		toolDescription: "Write the recorded requests to a HAR file and return its link. Secrets are masked.",
		properties:      `"bodies":{"type":"boolean","description":"With bodies."},` + tabProperty,
	},
	{
		name: "browser_route", title: "Route", targetKind: dispatch.TargetPage, class: classDangerous, readOnlyActions: []string{"list"}, capability: capabilityDebugger,
		toolDescription: "Answer the page's requests that match a URL pattern instead of the server, or abort them.",
		properties: `"action":{"enum":["add","remove","list"]},"pattern":{"type":"string","maxLength":1000,"description":"Whole URL; * matches anything."},` +
			`"status":{"type":"integer"},"body":{"type":"string"},"headers":{"type":"object","additionalProperties":{"type":"string"}},"abort":{"type":"boolean"},` + tabProperty,
		requiredArgs: []string{"action"},
	},
	{
		name: "browser_network_conditions", title: "Network conditions", targetKind: dispatch.TargetPage, class: classAct, capability: capabilityDebugger,
		toolDescription: "Slow down the tab's network or take it offline.",
		properties: `"preset":{"enum":["offline","slow-3g","fast-3g","fast-4g","none"]},"latency":{"type":"number","minimum":0,"description":"ms"},` +
			`"download":{"type":"number","minimum":0,"description":"kbit/s"},"upload":{"type":"number","minimum":0,"description":"kbit/s"},` + tabProperty,
	},
}
