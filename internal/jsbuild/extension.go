package jsbuild

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"opentabs/extension"
	"opentabs/plugin"
	sdkts "opentabs/sdk-ts"
	"opentabs/wire"
)

// extensionSources are the files that the extension is bundled from.
var extensionSources = sourceSet{
	Roots: map[string]fs.FS{"extension": extension.Source, "wire": wire.Source, "sdk-ts": sdkts.Source},
	Alias: map[string]string{
		"preact":             "extension/vendor/preact/src/index.js",
		"preact/hooks":       "extension/vendor/preact/hooks/src/index.js",
		"preact/jsx-runtime": "extension/vendor/preact/jsx-runtime/src/index.js",
	},
}

// Extension returns all files of the unpacked extension by their path, but for
// connection.json, which holds the port and the token of one server. The
// manifest gets version as its version.
func Extension(version string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for out, entry := range map[string]string{
		"worker.js": "extension/src/worker/worker.ts",
		"bridge.js": "extension/src/bridge/bridge.ts",
		"probe.js":  "extension/src/bridge/probe.ts",
		"panel.js":  "extension/src/panel/main.tsx",
	} {
		code, err := bundleScript(entry, "")
		if err != nil {
			return nil, err
		}
		files[out] = code
	}
	for out, source := range map[string]string{
		"panel.html":  "extension/src/panel/panel.html",
		"panel.css":   "extension/src/panel/panel.css",
		"calls.css":   "extension/src/panel/calls.css",
		"plugins.css": "extension/src/panel/plugins.css",
	} {
		text, err := extensionSources.Read(source)
		if err != nil {
			return nil, err
		}
		files[out] = text
	}
	manifest, icons, err := manifestFor(version)
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

// manifestFor returns the manifest with a version, and the icons it names.
func manifestFor(version string) ([]byte, []string, error) {
	text, err := extensionSources.Read("extension/manifest.json")
	if err != nil {
		return nil, nil, err
	}
	var m struct {
		Version string            `json:"version"`
		Icons   map[string]string `json:"icons"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, nil, fmt.Errorf("read the extension's manifest: %w", err)
	}
	old, fresh := fmt.Sprintf(`"version": %q`, m.Version), fmt.Sprintf(`"version": %q`, version)
	if bytes.Count(text, []byte(old)) != 1 {
		return nil, nil, fmt.Errorf("the extension's manifest does not hold %s once", old)
	}
	var icons []string
	for _, icon := range m.Icons {
		icons = append(icons, icon)
	}
	return bytes.Replace(text, []byte(old), []byte(fresh), 1), icons, nil
}

// Host returns a JavaScript expression whose value is a function that returns
// the host's start function (extension/src/host/host.ts). Its argument is true
// in a world that the page has no part in, where the host may start late. It is
// bundled once.
func Host() ([]byte, error) { return hostOnce() }

var hostOnce = sync.OnceValues(func() ([]byte, error) {
	code, err := bundleScript("extension/src/host/host.ts", "host")
	if err != nil {
		return nil, err
	}
	check, err := intactCheck()
	if err != nil {
		return nil, err
	}
	// In sloppy mode a page's function that the host calls could reach the host's functions by `caller`. The check
	// comes before anything that a page could have replaced is used, and says nothing: an error would reach the page.
	const form = "((late) => {\n\"use strict\";\n%s\nif (!late && !intact()) return () => {};\n%s\nreturn host.start;\n})"
	return fmt.Appendf(nil, form, check, bytes.TrimSpace(code)), nil
})

// intactCheck returns the function intact (extension/src/host/intact.ts) as it
// is written but for its types: what a bundler adds would run before it.
func intactCheck() ([]byte, error) {
	const file = "extension/src/host/intact.ts"
	text, err := extensionSources.Read(file)
	if err != nil {
		return nil, err
	}
	r := api.Transform(string(text), api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ES2022, Charset: api.CharsetASCII, Sourcefile: file, LogLevel: api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		return nil, fmt.Errorf("compile %s: %s", file, r.Errors[0].Text)
	}
	alone, ok := bytes.CutPrefix(bytes.TrimSpace(r.Code), []byte("export "))
	if !ok {
		return nil, fmt.Errorf("compile %s: it does not begin with its one export", file)
	}
	return alone, nil
}

// bundleScript bundles one entry point of the extension. A global name keeps the
// entry's exports in a variable of that name.
func bundleScript(entry, global string) ([]byte, error) {
	r := api.Build(api.BuildOptions{
		EntryPoints:     []string{entry},
		Outfile:         path.Base(entry) + ".js",
		Bundle:          true,
		Format:          api.FormatIIFE,
		GlobalName:      global,
		Target:          api.ES2022,
		Charset:         api.CharsetASCII,
		JSX:             api.JSXAutomatic,
		JSXImportSource: "preact",
		TsconfigRaw:     "{}",
		LegalComments:   api.LegalCommentsInline,
		Plugins:         []api.Plugin{extensionSources.Plugin()},
		LogLevel:        api.LogLevelSilent,
	})
	var problems []error
	for _, m := range append(r.Errors, r.Warnings...) {
		where := entry
		if m.Location != nil {
			where = fmt.Sprintf("%s:%d", m.Location.File, m.Location.Line)
		}
		problems = append(problems, fmt.Errorf("%s: %s", where, m.Text))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("bundle %s: %w", entry, errors.Join(problems...))
	}
	if len(r.OutputFiles) != 1 {
		return nil, fmt.Errorf("bundle %s: %d files instead of one", entry, len(r.OutputFiles))
	}
	return r.OutputFiles[0].Contents, nil
}

// container is the name that an adapter has its container under.
const container = "__openTabs"

// pageGlobal matches the end of what stands before a mention of the container
// that is asked of the page's window: by one of its names, or by its globalThis.
var pageGlobal = regexp.MustCompile(`(?:[^\w$](?:window|self|top|parent|frames|this)|\.\s*globalThis)\)?\s*(?:\?\.\s*|\.\s*|(?:\?\.)?\[\s*["'` + "`" + `])$`)

// takenApartBefore and takenApartAfter match what stands around a mention that
// takes an object apart, which may be the window.
var takenApartBefore, takenApartAfter = regexp.MustCompile(`[{,]\s*$`), regexp.MustCompile(`^__openTabs\s*[,:=}]`)

// otherName matches the end of what stands before a mention that is asked of a
// variable.
var otherName = regexp.MustCompile(`[^\w$.]([\w$]+)\)?\s*(?:\?\.\s*|\.\s*|(?:\?\.)?\[\s*["'` + "`" + `])$`)

// maxBefore is how much of that is looked at. An expression that looks at all
// takes 40 times as long as all else that is done with a large adapter.
const maxBefore = 64

// maxNames is how many variables are looked for in the whole of an adapter; one
// that asks more of them for its container may have the window among them.
const maxNames = 50

// parameters are those of the function that is written around a script of a
// plugin.
//
// window and self are private too if the code may look for its container
// there. Otherwise it keeps the page's own window, so that comparing
// event.source with it, or passing it to a DOM method, works.
func parameters(code []byte) string {
	text := slices.Concat([]byte("\n"), code, []byte("\n"))
	asked := map[string]bool{} // variables that are not the window
	for at := 0; ; at += len(container) {
		next := bytes.Index(text[at:], []byte(container))
		if next < 0 {
			return "globalThis"
		}
		at += next
		if longerName(text[at+len(container)]) {
			continue
		}
		before, rest := text[max(0, at-maxBefore):at], text[at:min(len(text), at+maxBefore)]
		mayBe := pageGlobal.Match(before) || takenApartBefore.Match(before) && takenApartAfter.Match(rest)
		if name := otherName.FindSubmatch(before); !mayBe && name != nil && !asked[string(name[1])] {
			mayBe = len(asked) == maxNames || isWindow(text, name[1])
			asked[string(name[1])] = true
		}
		if mayBe {
			return "globalThis, window, self"
		}
	}
}

// isWindow reports whether the variable is given the page's window somewhere.
func isWindow(text, name []byte) bool {
	if string(name) == "globalThis" {
		return false
	}
	given := regexp.MustCompile(`[^\w$.]` + regexp.QuoteMeta(string(name)) + `\s*=\s*\(?(?:window|self|top|parent|frames)[^\w$.(\[?]`)
	return given.Match(text)
}

// longerName reports whether a name goes on with c.
func longerName(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// ScriptOptions say how a plugin's script runs in a document. The host reads
// them (extension/src/host/options.ts).
type ScriptOptions struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
	// Settings are those of the plugin when the script is composed.
	Settings wire.PluginSettings `json:"settings"`
	// Start is when the adapter starts; if it is empty, [WrapAdapter] decides by
	// the adapter's code.
	Start StartAt `json:"start"`
	// Frames says that the adapter runs in frames of the page's own origin too.
	Frames bool `json:"frames,omitempty"`
	// Base is that of wire.PluginInfo.
	Base string `json:"base,omitempty"`
}

// StartAt is when an adapter starts.
type StartAt string

const (
	// StartNow is before the page's first script.
	StartNow StartAt = "now"
	// StartAtDOM is when the document is parsed.
	StartAtDOM StartAt = "dom"
)

// WrapAdapter returns the script that is registered for one plugin: the host,
// started with the code of the adapter, and of the pre-script if there is one,
// as functions whose globalThis is private to the plugin. host is what [Host]
// returns; [CheckScript] must have let both codes pass, or they could end their
// function early.
func WrapAdapter(host []byte, options ScriptOptions, adapter, preScript []byte) []byte {
	parts := PartsOf(options, adapter, preScript)
	b := make([]byte, 0, len(host)+len(parts.Adapter)+len(parts.PreScript)+len(parts.Options)+200)
	b = append(b, host...)
	b = append(b, "(false)("...)
	// As text: in an object literal a key such as __proto__ would not be a key.
	b = append(b, quote(string(parts.Options))...)
	b = append(b, ", "...)
	b = append(b, parts.Adapter...)
	if len(parts.PreScript) > 0 {
		b = append(b, ", "...)
		b = append(b, parts.PreScript...)
	}
	return append(b, ");\n"...)
}

// Parts are what the script of a plugin is composed of, beside the host.
type Parts struct {
	// Options is the JSON text of a [ScriptOptions].
	Options []byte
	// Adapter and PreScript are function expressions; PreScript is empty if there
	// is none.
	Adapter, PreScript []byte
}

// PartsOf returns the parts that [WrapAdapter] composes.
func PartsOf(options ScriptOptions, adapter, preScript []byte) Parts {
	if options.Start == "" {
		options.Start = startOf(adapter)
	}
	text, err := json.Marshal(options)
	if err != nil {
		panic("jsbuild: settings that are no JSON: " + err.Error()) // they were encoded here
	}
	parts := Parts{Options: text, Adapter: AdapterFunction(adapter)}
	if len(preScript) > 0 {
		parts.PreScript = AdapterFunction(preScript)
	}
	return parts
}

// AdapterFunction returns a JavaScript function expression that runs code in
// two steps (extension/src/host/lifecycle.ts:Evaluate): the function gets the
// built-ins that are the code's own variables, and returns one that runs the
// code, with its globalThis, and where it needs them window and self, as
// parameters. The built-ins are those of an outer function, so that the code
// may declare the same names itself.
func AdapterFunction(code []byte) []byte {
	b := make([]byte, 0, len(code)+1000)
	b = append(b, "function ({"...)
	b = append(b, builtIns...)
	b = append(b, "}) { return function ("...)
	b = append(b, parameters(code)...)
	b = append(b, ") {\n"...)
	b = append(b, withRealThis(dropShebang(code))...)
	return append(b, "\n}; }"...)
}

// builtIns are the names of extension/src/host/globals.ts.
const builtIns = "Object, Function, Array, String, Number, Boolean, Symbol, BigInt, RegExp, Date, Map, Set, WeakMap, WeakSet, " +
	"WeakRef, Promise, Proxy, Reflect, JSON, Math, Error, TypeError, RangeError, SyntaxError, URL, URLSearchParams, " +
	"AbortController, AbortSignal, DOMException, TextEncoder, TextDecoder, structuredClone, queueMicrotask, atob, btoa, " +
	"parseInt, parseFloat, isNaN, isFinite, encodeURI, encodeURIComponent, decodeURI, decodeURIComponent"

// thisArgument and itsEnd match what stands before a globalThis that is handed
// to a function as its `this`, and that with what follows.
var thisArgument, itsEnd = regexp.MustCompile(`\.\s*(?:bind|call|apply)\(\s*$`), regexp.MustCompile(`^globalThis\s*[,)]`)

// withRealThis has code hand out the page's window where it hands globalThis to
// a function as its `this`, as in fetch.bind(globalThis): a function of the
// browser refuses any other.
func withRealThis(code []byte) []byte {
	const private, real = "globalThis", "window"
	out := make([]byte, 0, len(code))
	done := 0
	for at := 0; ; at += len(private) {
		next := bytes.Index(code[at:], []byte(private))
		if next < 0 {
			return append(out, code[done:]...)
		}
		at += next
		if thisArgument.Match(code[max(0, at-maxBefore):at]) && itsEnd.Match(code[at:min(len(code), at+maxBefore)]) {
			out = append(append(out, code[done:at]...), real...)
			done = at + len(private)
		}
	}
}

// startOf returns when an adapter starts whose package does not say: at once,
// unless its author has written a hook that runs at the start, and may rely on
// the document there.
func startOf(code []byte) StartAt {
	if plugin.HasOnActivate(code) {
		return StartAtDOM
	}
	return StartNow
}

// dropShebang makes a first line that starts with #! empty: it is allowed at
// the start of a script only. The line ends at any of JavaScript's four line
// ends, or the rest of it would hide what a browser sees.
func dropShebang(code []byte) []byte {
	if !bytes.HasPrefix(code, []byte("#!")) {
		return code
	}
	end := bytes.IndexAny(code, "\n\r\u2028\u2029")
	if end < 0 {
		return nil
	}
	return code[end:]
}
