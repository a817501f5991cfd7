package jsbuild

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// webNames are the names of the window of Chromium, with comments.
//
//go:embed webnames.txt
var webNames string

// PageUse is one thing of the page's own JavaScript that a plugin's code uses, or
// may use: PageUses says so if it can't tell.
type PageUse string

// sdkPageUses are what the SDK exports for work with the page's own JavaScript, and
// hooks that need it.
var sdkPageUses = map[string]PageUse{
	"getPageGlobal":     "getPageGlobal, which reads variables of the page",
	"getPreScriptValue": "getPreScriptValue, which reads what a pre-script has found",
	"onNavigate":        "onNavigate, which patches the page's history",
}

// sdkImport matches the modules that are the SDK or zod, which are not the author's.
var sdkImport = regexp.MustCompile(`^(@opentabs/sdk|@opentabs-dev/plugin-sdk|zod)(/.*)?$`)

// importStatement matches an import that esbuild has written, with its names.
var importStatement = regexp.MustCompile(`(?m)^import (?:([\w$*, {}\n]+?) from )?"[^"]*";\n`)

// importedName matches one name of an import.
var importedName = regexp.MustCompile(`[\w$]+`)

// exportStatement matches the exports that esbuild has written.
var exportStatement = regexp.MustCompile(`(?m)^export \{\n?([^}]*)\};?\n?`)

// PageUses returns what the code of the plugin in dir uses of the page's own
// JavaScript, sorted; nothing if it would work in the isolated world as well. It
// goes by the source: the SDK and zod, which work in both worlds, are left out. What
// it can't follow, such as a variable that holds the window, counts as a use. The
// error is a *[BuildError] if the plugin is at fault.
func PageUses(dir string) ([]PageUse, error) {
	src, _, err := readSource(dir) // what else is wrong with the package is not asked
	if err != nil {
		return nil, err
	}
	code, err := ownCode(src)
	if err != nil {
		return nil, err
	}
	uses := map[PageUse]bool{}
	if src.PreScript != "" {
		uses["a pre-script, which runs among the page's scripts"] = true
	}
	var bound []string // names of imports
	for _, statement := range importStatement.FindAllStringSubmatch(code, -1) {
		for _, name := range importedName.FindAllString(statement[1], -1) {
			if use, ok := sdkPageUses[name]; ok {
				uses[use] = true
			}
			if name != "as" && name != "default" {
				bound = append(bound, name)
			}
		}
	}
	code = importStatement.ReplaceAllString(code, "")
	code = exportStatement.ReplaceAllString(code, "")
	slices.Sort(bound)
	tokens, err := renamedTokens(code, slices.Compact(bound))
	if err != nil {
		return nil, err
	}
	scan := pageScan{tokens: tokens, uses: uses}
	scan.run()
	all := make([]PageUse, 0, len(uses))
	for use := range uses {
		all = append(all, use)
	}
	slices.Sort(all)
	return all, nil
}

// ownCode bundles the plugin's modules into one, which imports the SDK and zod.
func ownCode(src source) (string, error) {
	within := fence{dir: src.Dir}
	r := api.Build(api.BuildOptions{
		EntryPoints:   []string{filepath.Join(src.Dir, filepath.FromSlash(src.Entry))},
		AbsWorkingDir: src.Dir,
		Outfile:       "own.js",
		Bundle:        true,
		Format:        api.FormatESModule,
		Platform:      api.PlatformBrowser,
		Target:        api.ES2021, // fields of classes become calls
		TreeShaking:   api.TreeShakingTrue,
		LegalComments: api.LegalCommentsNone,
		Loader:        assetLoaders,
		Define:        map[string]string{"process.env.NODE_ENV": `"production"`},
		Plugins: []api.Plugin{within.plugin(), {Name: "opentabs-own", Setup: func(build api.PluginBuild) {
			build.OnResolve(api.OnResolveOptions{Filter: sdkImport.String()}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
				return api.OnResolveResult{Path: a.Path, External: true}, nil
			})
		}}},
		LogLevel: api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		return "", &BuildError{Dir: src.Dir, Problems: within.fromEsbuild(r.Errors)}
	}
	if len(r.OutputFiles) != 1 {
		return "", fmt.Errorf("look at the plugin's code: %d files instead of one", len(r.OutputFiles))
	}
	return string(r.OutputFiles[0].Contents), nil
}

// endOfCode stands behind the code whose names are renamed.
const endOfCode = "opentabs:end-of-code"

// renamedTokens returns the tokens of code after esbuild has renamed everything that
// the code itself declares. Each name in code is mentioned outside of it, so that
// none is taken as a new name: a name that is left and was there is a property, or
// one that the code does not declare.
func renamedTokens(code string, bound []string) ([]jsToken, error) {
	var b strings.Builder
	b.WriteString("(() => {\n")
	for _, name := range bound {
		fmt.Fprintf(&b, "var %s;\n", name)
	}
	b.WriteString(code)
	fmt.Fprintf(&b, "\n})();\n%q;\n", endOfCode)
	before := jsTokens(code)
	names := map[string]bool{}
	for _, t := range before {
		if t.kind == tokenName && !reserved[t.text] && !names[t.text] {
			names[t.text] = true
			fmt.Fprintf(&b, "%s;\n", t.text)
		}
	}
	r := api.Transform(b.String(), api.TransformOptions{
		Loader: api.LoaderJS, Target: api.ES2021, MinifyIdentifiers: true, LogLevel: api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		return nil, fmt.Errorf("look at the plugin's code: %s", r.Errors[0].Text)
	}
	tokens := jsTokens(string(r.Code))
	end := slices.IndexFunc(tokens, func(t jsToken) bool { return t.kind == tokenString && strings.Contains(t.text, endOfCode) })
	if end < 0 {
		return nil, fmt.Errorf("look at the plugin's code: its end is not there")
	}
	tokens = tokens[:end]
	for i := range tokens {
		tokens[i].declared = tokens[i].kind == tokenName && !names[tokens[i].text] && !reserved[tokens[i].text]
	}
	return tokens, nil
}
