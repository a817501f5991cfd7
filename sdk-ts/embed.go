// Package sdkts embeds the files from which plugins are built: the TypeScript SDK, and a copy of zod for plugins that
// do not install zod.
package sdkts

import (
	"embed"
	"encoding/json"
)

// Source contains the SDK's package.json, the folder vendor, and the folder src without
// tests.
//
//go:embed package.json vendor/zod
//go:embed src/auth-cache.ts src/config.ts src/content.ts src/context.ts src/dom.ts src/fetch.ts src/index.ts
//go:embed src/json-patch.ts src/log-data.ts src/log.ts src/lucide-icon-names.gen.ts src/manifest.ts src/names.ts
//go:embed src/page.ts src/plugin.ts src/pre-script-value.ts src/pre-script.ts src/prompt.ts src/query.ts
//go:embed src/readiness.ts src/retry-after.ts src/running.ts src/send.ts src/storage.ts src/testing.ts src/testing-context.ts
//go:embed src/timer.ts src/timing.ts src/tool-error.ts src/tool.ts src/url-pattern.ts
//go:embed src/extract/definition.ts src/extract/extract.ts src/extract/prompts.ts src/extract/schema.ts src/extract/undo.ts
//go:embed src/runtime/call.ts src/runtime/container.ts src/runtime/context.ts
//go:embed src/runtime/install.ts src/runtime/jitless.ts src/runtime/navigation.ts
//go:embed src/runtime/platform.ts src/runtime/pre-script-runner.ts src/runtime/pristine.ts src/runtime/primordials.ts src/runtime/async.ts src/runtime/page-primordials.ts
//go:embed src/runtime/hints.ts src/runtime/value.ts src/runtime/zod-global.ts
//go:embed src/simulator/atob.ts src/simulator/check.ts src/simulator/clock.ts src/simulator/document.ts src/simulator/encoding.ts src/simulator/events.ts
//go:embed src/simulator/expect.ts src/simulator/failure.ts src/simulator/failures.ts src/simulator/http.ts src/simulator/mode.ts
//go:embed src/simulator/page.ts src/simulator/real.ts src/simulator/runner.ts src/simulator/start.ts src/simulator/storage.ts
//go:embed src/simulator/tab.ts src/simulator/url.ts vendor/linkedom vendor/whatwg-url-minimum
var Source embed.FS

// Example contains the documentation's example plugin, without tests, which `opentabs demo`
// builds. Each path in Example begins with examples/messages.
//
//go:embed examples/messages/package.json examples/messages/src/index.ts examples/messages/src/channel.ts
//go:embed examples/messages/src/prompts/summarise-channel.ts
//go:embed examples/messages/src/tools/compare-channels.ts examples/messages/src/tools/count-authors.ts examples/messages/src/tools/export-messages.ts
var Example embed.FS

// Version returns the SDK's version.
func Version() string {
	fileContent, err := Source.ReadFile("package.json")
	if err != nil { // an error is impossible, because package.json is embedded
		panic("sdkts: " + err.Error())
	}
	var pkg struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(fileContent, &pkg); err != nil {
		panic("sdkts: package.json: " + err.Error())
	}
	return pkg.Version
}
