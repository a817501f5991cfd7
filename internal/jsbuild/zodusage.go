package jsbuild

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"opentabs/internal/lazyregexp"
)

// zodUsage lists which properties of zod's object z the author's modules use. The build
// omits from the bundle all properties of z that zodUsage does not list. Without
// zodUsage, esbuild would keep all properties of z in the bundle.
type zodUsage struct {
	names []string
	// isComplete is false if names is possibly incomplete, because the code uses zod's
	// object z as a value, such as in an argument.
	isComplete    bool
	scannedBundle bundledScript
}

var (
	zodImportStatement = lazyregexp.New(`(?m)^import ([\w$*, {}\n]+?) from "zod(?:/v4)?";\n`)
	defaultImport      = lazyregexp.New(`^([\w$]+)`)
	zodObjectImport    = lazyregexp.New(`\b(?:z|default)(?: as ([\w$]+))?\b`)
	dynamicImport      = lazyregexp.New(`\b(?:__require|require|import)\d*\("zod`)
)

func findZodUsage(builtSource pluginSource) zodUsage {
	scannedBundle, err := bundlePluginCode(builtSource)
	if err != nil {
		return zodUsage{}
	}
	code := string(scannedBundle.Code)
	localNames := map[string]bool{}
	for _, statement := range zodImportStatement().FindAllStringSubmatch(code, -1) {
		textBeforeBrace, textInBraces, _ := strings.Cut(statement[1], "{")
		if localName := defaultImport().FindString(textBeforeBrace); localName != "" {
			localNames[localName] = true
		}
		for name := range strings.SplitSeq(strings.TrimRight(textInBraces, "}\n "), ",") {
			if regexpMatch := zodObjectImport().FindStringSubmatch(strings.TrimSpace(name)); regexpMatch != nil && regexpMatch[0] == strings.TrimSpace(name) {
				localNames[cmp.Or(regexpMatch[1], regexpMatch[0])] = true
			}
		}
	}
	usage := zodUsage{isComplete: !dynamicImport().MatchString(code), scannedBundle: scannedBundle}
	names := map[string]bool{}
	tokens := jsTokens(zodImportStatement().ReplaceAllString(code, ""))
	subpatternText := func(i int) string {
		if i < 0 || i >= len(tokens) || tokens[i].kind == tokenString {
			return ""
		}
		return tokens[i].source
	}
	isAccess := func(i int) bool { return subpatternText(i) == "." || subpatternText(i) == "?." }
	for i, t := range tokens {
		switch {
		case t.kind != tokenName || !localNames[t.source] || isAccess(i-1):
		case subpatternText(i+1) == ":" && (subpatternText(i-1) == "{" || subpatternText(i-1) == ","):
		case isAccess(i+1) && i+2 < len(tokens) && tokens[i+2].kind == tokenName:
			names[tokens[i+2].source] = true
		default:
			usage.isComplete = false
		}
	}
	usage.names = slices.Sorted(maps.Keys(names))
	return usage
}

// When the user reviews a plugin, opentabs recognizes the module usedZodPath as a library by its path.
const (
	usedZodNamespace = "opentabs-used"
	usedZodPath      = "zod/used.js"
)

func (z zodSource) loadUsedZod(api.OnLoadArgs) (api.OnLoadResult, error) {
	var b strings.Builder
	b.WriteString("import * as all from \"zod\";\nexport * from \"zod\";\nexport const z = {\n")
	for name := range strings.FieldsSeq(z.UsedZodNames) {
		fmt.Fprintf(&b, "  %s: all.%[1]s,\n", name)
	}
	b.WriteString("};\nexport { z as default };\n")
	contents := b.String()
	return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS, ResolveDir: z.Dir}, nil
}
