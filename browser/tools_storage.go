package browser

import "opentabs/dispatch"

// cursorProperty is the schema of the argument "cursor" of tools that return long results
// in parts.
const cursorProperty = `"cursor":{"type":"string"}`

var storageTools = []toolDefinition{
	{
		name: "browser_cookies", title: "Cookies", targetKind: dispatch.TargetBrowser, class: classDangerous, addressArgument: "url", permissions: []string{"cookies"},
		toolDescription: "List the cookies of a URL by name and flags, or get, set or delete one.",
		properties: `"action":{"enum":["list","get","set","delete"]},"url":{"type":"string"},"name":{"type":"string"},"value":{"type":"string"},` +
			`"options":{"type":"object","properties":{"domain":{"type":"string"},"path":{"type":"string"},"expires":{"type":"string"},` +
			`"secure":{"type":"boolean"},"httpOnly":{"type":"boolean"},"sameSite":{"enum":["None","Lax","Strict"]}},"additionalProperties":false},` + cursorProperty,
		requiredArgs: []string{"action", "url"},
	},
	{
		name: "browser_storage", title: "Storage", targetKind: dispatch.TargetPage, class: classDangerous,
		toolDescription: "List the keys of the page's storage, or get, set or delete a value. In indexeddb, name database and store, and use JSON.",
		properties: `"action":{"enum":["list","get","set","delete"]},"area":{"enum":["local","session","indexeddb"]},"database":{"type":"string"},` +
			`"store":{"type":"string"},"key":{"type":"string"},"value":{"type":"string"},` + cursorProperty + `,` + tabProperty,
		requiredArgs: []string{"action", "area"},
	},
	{
		name: "browser_clear_site_data", title: "Clear site data", targetKind: dispatch.TargetBrowser, class: classDangerous, addressArgument: "origin", permissions: []string{"browsingData", "cookies"},
		toolDescription: "Delete what one site has stored in the browser. Default: all types.",
		properties: `"origin":{"type":"string"},"types":{"type":"array","minItems":1,"items":{"enum":["cookies","localStorage","indexedDB",` +
			`"cacheStorage","serviceWorkers","fileSystems","cache"]}}`,
		requiredArgs: []string{"origin"},
	},
}
