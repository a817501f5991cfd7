package jsbuild

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"opentabs/internal/lazyregexp"
)

// webGlobalNames is the text of webnames.txt, which lists the properties of Chromium's
// window, one per line. A line that begins with # is a comment.
//
//go:embed webnames.txt
var webGlobalNames string

// PageScriptUse describes one place where a plugin's code possibly uses the page's own JavaScript.
type PageScriptUse string

// sdkPageUses maps SDK exports and hooks that use the page's own JavaScript to a
// description of that use.
var sdkPageUses = map[string]PageScriptUse{
	"getPageGlobal":     "getPageGlobal, which reads variables of the page",
	"getPreScriptValue": "getPreScriptValue, which reads the values of a pre-script",
	"onNavigate":        "onNavigate, which patches the page's history",
}

var sdkImport = lazyregexp.New(`^(@opentabs/sdk|@opentabs-dev/plugin-sdk|zod)(/.*)?$`)

var importStatement = lazyregexp.New(`(?m)^import (?:([\w$*, {}\n]+?) from )?"[^"]*";\n`)

var importedName = lazyregexp.New(`[\w$]+`)

var exportStatement = lazyregexp.New(`(?m)^export \{\n?([^}]*)\};?\n?`)

// FindPageScriptUses returns the places where the plugin in dir possibly uses the page's
// own JavaScript, sorted. If FindPageScriptUses finds no use of the page's JavaScript,
// the plugin also works in the isolated world. The SDK and zod work in both worlds, so
// FindPageScriptUses analyzes only the author's source. If FindPageScriptUses cannot
// follow some code, such as a variable whose value is the window, FindPageScriptUses
// reports the code as a use of the page's JavaScript. If the plugin's source does not
// compile, FindPageScriptUses returns a *[BuildError].
func FindPageScriptUses(dir string) ([]PageScriptUse, error) {
	pluginSource, _, err := readSource(dir) // problems of package.json with which a build could continue are ignored
	if err != nil {
		return nil, err
	}
	bundled, err := bundlePluginCode(pluginSource)
	if err != nil {
		return nil, err
	}
	code := string(bundled.Code)
	uses := map[PageScriptUse]bool{}
	if pluginSource.PreScript != "" {
		uses["a pre-script, which runs among the page's scripts"] = true
	}
	var declaredNames []string
	for _, statement := range importStatement().FindAllStringSubmatch(code, -1) {
		for _, name := range importedName().FindAllString(statement[1], -1) {
			if use, ok := sdkPageUses[name]; ok {
				uses[use] = true
			}
			if name != "as" && name != "default" {
				declaredNames = append(declaredNames, name)
			}
		}
	}
	code = importStatement().ReplaceAllString(code, "")
	code = exportStatement().ReplaceAllString(code, "")
	slices.Sort(declaredNames)
	tokens, err := renamedTokens(code, slices.Compact(declaredNames))
	if err != nil {
		return nil, err
	}
	pageScanner := pageUseScanner{tokens: tokens, uses: uses}
	pageScanner.findUses()
	sortedUses := make([]PageScriptUse, 0, len(uses))
	for use := range uses {
		sortedUses = append(sortedUses, use)
	}
	slices.Sort(sortedUses)
	return sortedUses, nil
}

func bundlePluginCode(builtSource pluginSource) (bundledScript, error) {
	pluginBoundary := sourceBoundary{dir: builtSource.Dir}
	r := api.Build(api.BuildOptions{
		EntryPoints:   []string{filepath.Join(builtSource.Dir, filepath.FromSlash(builtSource.Entry))},
		AbsWorkingDir: builtSource.Dir,
		Outfile:       "dist/own.js",
		Bundle:        true,
		Format:        api.FormatESModule,
		Platform:      api.PlatformBrowser,
		Target:        api.ES2021, // esbuild compiles class fields to calls
		TreeShaking:   api.TreeShakingTrue,
		LegalComments: api.LegalCommentsNone,
		Sourcemap:     api.SourceMapExternal,
		Metafile:      true,
		Loader:        assetLoaders,
		Define:        map[string]string{"process.env.NODE_ENV": `"production"`},
		Plugins: []api.Plugin{pluginBoundary.esbuildPlugin(), {Name: "opentabs-own", Setup: func(build api.PluginBuild) {
			build.OnResolve(api.OnResolveOptions{Filter: sdkImport().String()}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
				return api.OnResolveResult{Path: a.Path, External: true}, nil
			})
		}}},
		LogLevel: api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		return bundledScript{}, &BuildError{Dir: builtSource.Dir, Problems: pluginBoundary.problemsFromEsbuild(r.Errors)}
	}
	if len(r.OutputFiles) != 2 {
		return bundledScript{}, fmt.Errorf("analyze the plugin's code: the bundler returned %d files instead of two", len(r.OutputFiles))
	}
	return bundledScript{Code: r.OutputFiles[1].Contents, SourceMap: r.OutputFiles[0].Contents, Metafile: r.Metafile}, nil
}

// endOfCodeMarker is a string literal that renamedTokens appends to the plugin's code.
const endOfCodeMarker = "opentabs:end-of-code"

// After esbuild has renamed all names that the plugin's code declares, an unchanged name is a property or an undeclared
// variable. renamedTokens uses each name of the code at the top level of the script, so that esbuild picks none of
// these names as a new name.
func renamedTokens(code string, declaredNames []string) ([]jsToken, error) {
	var b strings.Builder
	b.WriteString("(() => {\n")
	for _, name := range declaredNames {
		fmt.Fprintf(&b, "var %s;\n", name)
	}
	b.WriteString(code)
	fmt.Fprintf(&b, "\n})();\n%q;\n", endOfCodeMarker)
	originalTokens := jsTokens(code)
	names := map[string]bool{}
	for _, t := range originalTokens {
		if t.kind == tokenName && !reservedWords[t.source] && !names[t.source] {
			names[t.source] = true
			fmt.Fprintf(&b, "%s;\n", t.source)
		}
	}
	r := api.Transform(b.String(), api.TransformOptions{
		Loader: api.LoaderJS, Target: api.ES2021, MinifyIdentifiers: true, LogLevel: api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		return nil, fmt.Errorf("analyze the plugin's code: %s", r.Errors[0].Text)
	}
	tokens := jsTokens(string(r.Code))
	endIndex := slices.IndexFunc(tokens, func(t jsToken) bool { return t.kind == tokenString && strings.Contains(t.source, endOfCodeMarker) })
	if endIndex < 0 {
		return nil, fmt.Errorf("analyze the plugin's code: the end marker is missing")
	}
	tokens = tokens[:endIndex]
	for i := range tokens {
		tokens[i].isDeclared = tokens[i].kind == tokenName && !names[tokens[i].source] && !reservedWords[tokens[i].source]
	}
	return tokens, nil
}
