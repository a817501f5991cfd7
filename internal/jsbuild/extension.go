package jsbuild

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"opentabs/extension"
	"opentabs/internal/lazyregexp"
	"opentabs/plugin"
	sdkts "opentabs/sdk-ts"
	"opentabs/wire"
)

var extensionSources = sourceSet{
	Roots: map[string]fs.FS{"extension": extension.Source, "wire": wire.Source, "sdk-ts": sdkts.Source},
	Alias: map[string]string{
		"preact":             "extension/vendor/preact/src/index.js",
		"preact/hooks":       "extension/vendor/preact/hooks/src/index.js",
		"preact/jsx-runtime": "extension/vendor/preact/jsx-runtime/src/index.js",

		"dom-accessibility-api": "extension/vendor/dom-accessibility-api/dist/accessible-name.mjs",
	},
}

// ManifestOptions contains the values in the extension's manifest that differ between installations.
type ManifestOptions struct {
	Version string
	// WithDebugger adds Chrome's "debugger" permission. Chrome does not accept "debugger"
	// as an optional permission, so the manifest contains the permission only if the user
	// wants it.
	WithDebugger bool
	// IsForStore builds the extension for a store. In a store build of the extension, the
	// user grants access to each site in the side panel. The manifest of a store build
	// contains no key, because the store chooses the extension's ID. For a store build,
	// WithDebugger must be false.
	IsForStore bool
}

// ExtensionFiles returns the files of the unpacked extension by path. ExtensionFiles
// omits the extension's file connection.json, which contains the port and the token of
// one server.
func ExtensionFiles(options ManifestOptions) (map[string][]byte, error) {
	scripts, err := bundledScripts()
	if err != nil {
		return nil, err
	}
	files := maps.Clone(scripts)
	for outDir, source := range map[string]string{
		"panel.html":     "extension/src/panel/panel.html",
		"panel.css":      "extension/src/panel/panel.css",
		"calls.css":      "extension/src/panel/calls.css",
		"recent.css":     "extension/src/panel/recent.css",
		"call-parts.css": "extension/src/panel/call-parts.css",
		"onboarding.css": "extension/src/panel/onboarding.css",
		"plugins.css":    "extension/src/panel/plugins.css",
		"review.css":     "extension/src/panel/review.css",
		"ticket.css":     "extension/src/panel/ticket.css",
		"popup.html":     "extension/src/popup/popup.html",
		"popup.css":      "extension/src/popup/popup.css",
	} {
		fileContent, err := extensionSources.Read(source)
		if err != nil {
			return nil, err
		}
		files[outDir] = fileContent
	}
	manifest, icons, err := makeManifest(options)
	if err != nil {
		return nil, err
	}
	files["manifest.json"] = manifest
	for _, icon := range icons {
		if files[icon], err = extensionSources.Read("extension/" + icon); err != nil {
			return nil, err
		}
	}
	return files, nil
}

var bundledScripts = sync.OnceValues(func() (map[string][]byte, error) {
	return bundleEntries("", []api.EntryPoint{
		{OutputPath: "worker", InputPath: "extension/src/worker/worker.ts"},
		{OutputPath: "bridge", InputPath: "extension/src/bridge/bridge.ts"},
		{OutputPath: "probe", InputPath: "extension/src/bridge/probe.ts"},
		{OutputPath: "page", InputPath: "extension/src/page/page-script.ts"},
		{OutputPath: "panel", InputPath: "extension/src/panel/main.tsx"},
		{OutputPath: "popup", InputPath: "extension/src/popup/main.tsx"},
	})
})

func makeManifest(options ManifestOptions) ([]byte, []string, error) {
	fileContent, err := extensionSources.Read("extension/manifest.json")
	if err != nil {
		return nil, nil, err
	}
	var m struct {
		Version string            `json:"version"`
		Key     string            `json:"key"`
		Icons   map[string]string `json:"icons"`
	}
	if err := json.Unmarshal(fileContent, &m); err != nil {
		return nil, nil, fmt.Errorf("read the extension's manifest: %w", err)
	}
	if fileContent, err = replaceOnce(fileContent, fmt.Sprintf(`"version": %q`, m.Version), fmt.Sprintf(`"version": %q`, options.Version)); err != nil {
		return nil, nil, err
	}
	if options.WithDebugger {
		const permissions = `"permissions": [`
		if fileContent, err = replaceOnce(fileContent, permissions, permissions+`"debugger", `); err != nil {
			return nil, nil, err
		}
	}
	if options.IsForStore {
		for oldText, newText := range map[string]string{
			fmt.Sprintf("  \"key\": %q,\n", m.Key): "",
			`"host_permissions"`:                   `"optional_host_permissions"`,
		} {
			if fileContent, err = replaceOnce(fileContent, oldText, newText); err != nil {
				return nil, nil, err
			}
		}
	}
	var icons []string
	for _, icon := range m.Icons {
		icons = append(icons, icon)
	}
	return fileContent, icons, nil
}

func replaceOnce(manifest []byte, oldText, newText string) ([]byte, error) {
	if bytes.Count(manifest, []byte(oldText)) != 1 {
		return nil, fmt.Errorf("the extension's manifest does not contain %s exactly once", oldText)
	}
	return bytes.Replace(manifest, []byte(oldText), []byte(newText), 1), nil
}

// HostScript returns a JavaScript expression for a function that returns the host's start
// function (extension/src/host/host.ts). For Chrome's isolated world, where the host may
// start after the page's scripts, the caller must pass true to the function that the
// expression returns. HostScript bundles the host code only once.
func HostScript() ([]byte, error) { return bundledHost() }

var bundledHost = sync.OnceValues(func() ([]byte, error) {
	scripts, err := bundleEntries("host", []api.EntryPoint{{OutputPath: "host", InputPath: "extension/src/host/host.ts"}})
	if err != nil {
		return nil, err
	}
	check, err := builtInCheckScript()
	if err != nil {
		return nil, err
	}
	// In strict mode, functions of the page cannot read the host's functions through
	// `caller`. Before the host uses any built-in, the function intact checks that the
	// page has not replaced built-ins. The function intact never throws, because the page
	// could observe a thrown error.
	const form = "((late) => {\n\"use strict\";\n%s\nif (!late && !intact()) return () => {};\n%s\nreturn host.start;\n})"
	return fmt.Appendf(nil, form, check, bytes.TrimSpace(scripts["host.js"])), nil
})

// The function intact (extension/src/host/intact.ts) is not bundled, because a bundler would add code that runs before
// it.
func builtInCheckScript() ([]byte, error) {
	const file = "extension/src/host/intact.ts"
	fileContent, err := extensionSources.Read(file)
	if err != nil {
		return nil, err
	}
	r := api.Transform(string(fileContent), api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ES2022, Charset: api.CharsetASCII, Sourcefile: file, LogLevel: api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		return nil, fmt.Errorf("compile %s: %s", file, r.Errors[0].Text)
	}
	expression, ok := bytes.CutPrefix(bytes.TrimSpace(r.Code), []byte("export "))
	if !ok {
		return nil, fmt.Errorf("compile %s: the file must begin with its only export", file)
	}
	return expression, nil
}

// If globalName is not empty, bundleEntries stores the exports of each bundle in a variable with that name.
func bundleEntries(globalName string, entries []api.EntryPoint) (map[string][]byte, error) {
	const outDir = "/bundle"
	r := api.Build(api.BuildOptions{
		EntryPointsAdvanced: entries,
		Outdir:              outDir,
		Bundle:              true,
		Format:              api.FormatIIFE,
		GlobalName:          globalName,
		Target:              api.ES2022,
		Charset:             api.CharsetASCII,
		JSX:                 api.JSXAutomatic,
		JSXImportSource:     "preact",
		TsconfigRaw:         "{}",
		LegalComments:       api.LegalCommentsInline,
		Plugins:             []api.Plugin{extensionSources.Plugin()},
		LogLevel:            api.LogLevelSilent,
	})
	var problems []error
	for _, m := range append(r.Errors, r.Warnings...) {
		location := "the extension"
		if m.Location != nil {
			location = fmt.Sprintf("%s:%d", m.Location.File, m.Location.Line)
		}
		problems = append(problems, fmt.Errorf("%s: %s", location, m.Text))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("bundle the extension's scripts: %w", errors.Join(problems...))
	}
	scripts := map[string][]byte{}
	for _, f := range r.OutputFiles {
		scripts[filepath.Base(f.Path)] = f.Contents
	}
	if len(scripts) != len(entries) {
		return nil, fmt.Errorf("bundle the extension's scripts: %d files instead of %d", len(scripts), len(entries))
	}
	return scripts, nil
}

const adapterGlobalName = "__openTabs"

// pageWindowPattern matches text such as "window." directly before the container's name, with
// which code reads the container from the page's window.
var pageWindowPattern = lazyregexp.New(`(?:[^\w$](?:window|self|top|parent|frames|this)|\.\s*globalThis)\)?\s*(?:\?\.\s*|\.\s*|(?:\?\.)?\[\s*["'` + "`" + `])$`)

var destructuringStart, destructuringEnd = lazyregexp.New(`[{,]\s*$`), lazyregexp.New(`^__openTabs\s*[,:=}]`)

var variableBeforeContainer = lazyregexp.New(`[^\w$.]([\w$]+)\)?\s*(?:\?\.\s*|\.\s*|(?:\?\.)?\[\s*["'` + "`" + `])$`)

// maxContextBytes is the number of bytes before and after the container's name that
// regular expressions search. Searching the whole text of a large adapter would be 40
// times slower than all other steps together.
const maxContextBytes = 64

// If code has more than maxExaminedVariables variables to examine, scriptParameters assumes that one of them is the page's
// window.
const maxExaminedVariables = 50

// In a plugin's script, globalThis is always private to the plugin. The script also gets a private window and a
// private self if its code may read the plugin's container from them. Comparisons with event.source and calls of DOM
// methods need the page's window.
func scriptParameters(code []byte) string {
	scriptSource := slices.Concat([]byte("\n"), code, []byte("\n"))
	isChecked := map[string]bool{}
	for offset := 0; ; offset += len(adapterGlobalName) {
		relativeIndex := bytes.Index(scriptSource[offset:], []byte(adapterGlobalName))
		if relativeIndex < 0 {
			return "globalThis"
		}
		offset += relativeIndex
		if isNameChar(scriptSource[offset+len(adapterGlobalName)]) {
			continue
		}
		textBefore, textAfter := scriptSource[max(0, offset-maxContextBytes):offset], scriptSource[offset:min(len(scriptSource), offset+maxContextBytes)]
		mayUseWindow := pageWindowPattern().Match(textBefore) || destructuringStart().Match(textBefore) && destructuringEnd().Match(textAfter)
		if name := variableBeforeContainer().FindSubmatch(textBefore); !mayUseWindow && name != nil && !isChecked[string(name[1])] {
			mayUseWindow = len(isChecked) == maxExaminedVariables || isWindow(scriptSource, name[1])
			isChecked[string(name[1])] = true
		}
		if mayUseWindow {
			return "globalThis, window, self"
		}
	}
}

func isWindow(identifier, name []byte) bool {
	if string(name) == "globalThis" {
		return false
	}
	assignment := regexp.MustCompile(`[^\w$.]` + regexp.QuoteMeta(string(name)) + `\s*=\s*\(?(?:window|self|top|parent|frames)[^\w$.(\[?]`)
	return assignment.Match(identifier)
}

func isNameChar(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// ScriptOptions configure a plugin's script in a document. The host that runs the adapter
// reads these ScriptOptions (extension/src/host/options.ts).
type ScriptOptions struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
	// The field Settings contains the plugin's settings at the time when the server
	// builds the script.
	Settings wire.PluginSettings `json:"settings"`
	// Start is the moment at which the adapter starts in a document. If Start is empty,
	// [MakeScriptParts] derives Start from the adapter's code.
	Start StartTime `json:"start"`
	// RunsInFrames is true if the adapter also runs in frames that have the page's origin.
	RunsInFrames bool `json:"frames,omitempty"`
	// FixedScriptPartsID identifies the plugin's world and pre-script, like the field
	// FixedScriptPartsID of wire.PluginInfo.
	FixedScriptPartsID string `json:"base,omitempty"`
}

// StartTime names the moment at which an adapter starts in a document.
type StartTime string

const (
	// StartImmediately starts the adapter before the page's first script.
	StartImmediately StartTime = "now"
	// StartAtDOMReady starts the adapter after the document is parsed.
	StartAtDOMReady StartTime = "dom"
)

// WrapAdapter returns the script that Chrome runs for one plugin. The returned script
// passes the plugin's adapter and its pre-script, if any, as two functions to the host.
// In the function of the adapter and in the function of the pre-script, globalThis is an
// object that only the plugin uses. The argument host is the result of [HostScript].
// [CheckScript] must have accepted adapter and preScript, so that their code cannot leave
// the functions around it.
func WrapAdapter(host []byte, options ScriptOptions, adapter, preScript []byte) []byte {
	scriptParts := MakeScriptParts(options, adapter, preScript)
	b := make([]byte, 0, len(host)+len(scriptParts.Adapter)+len(scriptParts.PreScript)+len(scriptParts.Options)+200)
	b = append(b, host...)
	b = append(b, "(false)("...)
	// The options are passed as JSON text, because __proto__ is not a plain key in an
	// object literal.
	b = append(b, quoteJS(string(scriptParts.Options))...)
	b = append(b, ", "...)
	b = append(b, scriptParts.Adapter...)
	if len(scriptParts.PreScript) > 0 {
		b = append(b, ", "...)
		b = append(b, scriptParts.PreScript...)
	}
	return append(b, ");\n"...)
}

// ScriptParts contain the options and the code that a plugin adds to its script; the host
// is not included.
type ScriptParts struct {
	// Options is the JSON text of the plugin's [ScriptOptions].
	Options []byte
	// Adapter and PreScript each contain a JavaScript function expression that runs the
	// code of the adapter or of the pre-script. PreScript is empty for a plugin without a pre-script.
	Adapter, PreScript []byte
}

// MakeScriptParts returns the parts of a plugin's script that [WrapAdapter] joins.
func MakeScriptParts(options ScriptOptions, adapter, preScript []byte) ScriptParts {
	if options.Start == "" {
		options.Start = chooseStartTime(adapter)
	}
	encodedJSON, err := json.Marshal(options)
	if err != nil {
		panic("jsbuild: settings that are not JSON: " + err.Error())
	}
	scriptParts := ScriptParts{Options: encodedJSON, Adapter: adapterFunction(adapter)}
	if len(preScript) > 0 {
		scriptParts.PreScript = adapterFunction(preScript)
	}
	return scriptParts
}

// adapterFunction returns a JavaScript expression for an outer function that returns an
// inner function, which contains the plugin's code
// (extension/src/host/lifecycle.ts:Evaluate). The built-ins are parameters of the outer
// function, so that the plugin's code can declare variables with the same names. The
// parameters of the inner function are globalThis, and also window and self if the
// plugin's code needs private ones. An optional second argument of the outer function is
// a callback, which receives an error whose stack trace contains the line just before the
// plugin's code.
func adapterFunction(code []byte) []byte {
	b := make([]byte, 0, len(code)+1000)
	b = append(b, "function ({"...)
	b = append(b, builtInNames...)
	b = append(b, "}) { arguments[1]?.(new Error()); return function ("...)
	b = append(b, scriptParameters(code)...)
	b = append(b, ") {\n"...)
	b = append(b, replaceGlobalThis(dropShebang(code))...)
	return append(b, "\n}; }"...)
}

// builtInNames are the JavaScript built-ins that extension/src/host/globals.ts passes to a
// plugin's code.
const builtInNames = "Object, Function, Array, String, Number, Boolean, Symbol, BigInt, RegExp, Date, Map, Set, WeakMap, WeakSet, " +
	"WeakRef, Promise, Proxy, Reflect, JSON, Math, Error, TypeError, RangeError, SyntaxError, URL, URLSearchParams, " +
	"AbortController, AbortSignal, DOMException, TextEncoder, TextDecoder, structuredClone, queueMicrotask, atob, btoa, " +
	"parseInt, parseFloat, isNaN, isFinite, encodeURI, encodeURIComponent, decodeURI, decodeURIComponent"

// beforeThisArgument and afterThisArgument match code such as fetch.bind(globalThis), which passes globalThis as `this`.
var beforeThisArgument, afterThisArgument = lazyregexp.New(`\.\s*(?:bind|call|apply)\(\s*$`), lazyregexp.New(`^globalThis\s*[,)]`)

// replaceGlobalThis is necessary because functions of the browser throw if `this` is not the page's window.
func replaceGlobalThis(code []byte) []byte {
	const globalThisName, windowName = "globalThis", "window"
	resultJSON := make([]byte, 0, len(code))
	copiedBytes := 0
	for offset := 0; ; offset += len(globalThisName) {
		relativeIndex := bytes.Index(code[offset:], []byte(globalThisName))
		if relativeIndex < 0 {
			return append(resultJSON, code[copiedBytes:]...)
		}
		offset += relativeIndex
		if beforeThisArgument().Match(code[max(0, offset-maxContextBytes):offset]) && afterThisArgument().Match(code[offset:min(len(code), offset+maxContextBytes)]) {
			resultJSON = append(append(resultJSON, code[copiedBytes:offset]...), windowName...)
			copiedBytes = offset + len(globalThisName)
		}
	}
}

// chooseStartTime returns StartAtDOMReady if the adapter has an onActivate hook, because such a hook can use the parsed
// document.
func chooseStartTime(code []byte) StartTime {
	if plugin.DefinesActivateHook(code) {
		return StartAtDOMReady
	}
	return StartImmediately
}

// dropShebang empties a first line that begins with #!, which is not allowed inside of a function.
func dropShebang(code []byte) []byte {
	if !bytes.HasPrefix(code, []byte("#!")) {
		return code
	}
	endIndex := bytes.IndexAny(code, "\n\r\u2028\u2029")
	if endIndex < 0 {
		return nil
	}
	return code[endIndex:]
}
