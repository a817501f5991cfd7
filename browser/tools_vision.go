package browser

import "opentabs/dispatch"

const pointProperties = `"x":{"type":"number","minimum":0},"y":{"type":"number","minimum":0},`

var visionTools = []toolDefinition{
	{
		name: "browser_mouse_click_xy", title: "Click a point", targetKind: dispatch.TargetPage, class: classAct, capability: capabilityDebugger,
		toolDescription: "Click a point of the visible part of the page, in pixels of an unscaled screenshot.",
		properties: pointProperties + `"button":{"enum":["left","right","middle"]},"clickCount":{"type":"integer","minimum":1,"maximum":3},` +
			snapshotProperty + `,` + tabProperty,
		requiredArgs: []string{"x", "y"},
	},
	{
		name: "browser_mouse_move_xy", title: "Move to a point", targetKind: dispatch.TargetPage, class: classAct, capability: capabilityDebugger,
		toolDescription: "Move the pointer to a point.",
		properties:      pointProperties + snapshotProperty + `,` + tabProperty,
		requiredArgs:    []string{"x", "y"},
	},
	{
		name: "browser_mouse_drag_xy", title: "Drag between points", targetKind: dispatch.TargetPage, class: classAct, capability: capabilityDebugger,
		toolDescription: "Drag from one point to another.",
		properties: `"startX":{"type":"number","minimum":0},"startY":{"type":"number","minimum":0},"endX":{"type":"number","minimum":0},"endY":{"type":"number","minimum":0},` +
			snapshotProperty + `,` + tabProperty,
		requiredArgs: []string{"startX", "startY", "endX", "endY"},
	},
	{
		name: "browser_mouse_wheel", title: "Turn the wheel", targetKind: dispatch.TargetPage, class: classAct, capability: capabilityDebugger,
		toolDescription: "Turn the wheel at a point, to scroll or zoom.",
		properties:      pointProperties + `"deltaX":{"type":"number"},"deltaY":{"type":"number"},` + snapshotProperty + `,` + tabProperty,
		requiredArgs:    []string{"x", "y"},
	},
}

var emulationTools = []toolDefinition{
	{
		name: "browser_emulate", title: "Emulate", targetKind: dispatch.TargetPage, class: classAct, capability: capabilityDebugger,
		toolDescription: "Emulate a device in the tab until clear. Returns what the tab emulates.",
		properties: `"viewport":{"type":"object","properties":{"width":{"type":"integer","minimum":1,"maximum":10000},"height":{"type":"integer","minimum":1,"maximum":10000},` +
			`"scale":{"type":"number","minimum":0,"maximum":10},"mobile":{"type":"boolean"}},"required":["width","height"]},"userAgent":{"type":"string","maxLength":1000},` +
			`"geolocation":{"type":"object","properties":{"latitude":{"type":"number","minimum":-90,"maximum":90},"longitude":{"type":"number","minimum":-180,"maximum":180},` +
			`"accuracy":{"type":"number","minimum":0}},"required":["latitude","longitude"]},` +
			`"media":{"type":"object","properties":{"type":{"enum":["screen","print"]},"colorScheme":{"enum":["light","dark"]},"reducedMotion":{"enum":["reduce","no-preference"]},` +
			`"contrast":{"enum":["more","less","no-preference"]},"forcedColors":{"enum":["active","none"]}}},` +
			`"visionDeficiency":{"enum":["none","blurredVision","reducedContrast","achromatopsia","deuteranopia","protanopia","tritanopia"]},` +
			`"locale":{"type":"string"},"timezone":{"type":"string"},"cpuSlowdown":{"type":"number","minimum":1,"maximum":20},"clear":{"type":"boolean"},` + tabProperty,
	},
}
