package author

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"opentabs/internal/jsbuild"
	"opentabs/internal/lazyregexp"
	"opentabs/wire"
)

const (
	maxDisplayNameChars = 40
	minDescriptionChars = 20
	maxPatterns         = 10
	// largeAdapterBytes is the size above which an adapter slows down pages, because each
	// matching page runs the adapter.
	largeAdapterBytes = 2 << 20
)

var packageRules = []rule{
	{Rule{"package-version", "npm accepts only versions of three numbers, and updates are found by comparing versions."}, levelError, checkVersion},
	{Rule{"package-main", "Tools for this package format find the adapter by the key main."}, levelWarning, checkMain},
	{Rule{"package-files", "Without the key files, npm publish leaves out the files that git ignores, which usually include dist."}, levelWarning, checkFiles},
	{Rule{"package-keyword", "`opentabs plugin search` finds plugins by this keyword."}, levelWarning, checkKeyword},
	{Rule{"package-scripts", "opentabs never runs install scripts, and everyone who reviews the plugin has to read them."}, levelWarning, checkScripts},
	{Rule{"package-dependencies", "The adapter contains all dependencies, so opentabs installs none."}, levelWarning, checkDependencies},
	{Rule{"display-name", "Users see this name in the side panel and when a call asks for approval."}, levelWarning, checkDisplayName},
	{Rule{"description", "Users choose a plugin by this sentence."}, levelWarning, checkDescription},
	{Rule{"pattern-wide", "Some domains give a subdomain to anyone. A plugin for all of them offers its tools to pages of unknown authors."}, levelWarning, checkPatterns},
	{Rule{"icon", "Users recognize plugins by their icons."}, levelWarning, checkIcon},
	{Rule{"adapter-size", "Each matching page loads and runs the whole adapter before its own scripts."}, levelWarning, checkAdapterSize},
	{Rule{"world-isolated", "Scripts of a page can read and change the data of an adapter in the main world. An adapter that uses no JavaScript of the page does not need that world."}, levelSuggestion, checkWorld},
	{Rule{"dist-stale", "Commands add and pack the files in dist, not the source."}, levelWarning, checkStaleBuild},
	{Rule{"tests", "Sites change without notice. Tests show which tool no longer works."}, levelWarning, checkTests},
	{Rule{"readme", "Users read the README before they choose a plugin, so its list of tools has to be correct."}, levelWarning, checkReadme},
}

// packageJSON contains the members of package.json that linter rules check.
type packageJSON struct {
	Version      string            `json:"version"`
	Main         string            `json:"main"`
	Files        []string          `json:"files"`
	Keywords     []string          `json:"keywords"`
	Scripts      map[string]string `json:"scripts"`
	Dependencies map[string]string `json:"dependencies"`
}

// The field of a member of package.json that has the wrong type stays empty without an error,
// because the build reports the problem.
func (b *tempBuild) readManifest() packageJSON {
	var pkg packageJSON
	if fileContent, err := os.ReadFile(filepath.Join(b.sourceDir, "package.json")); err == nil {
		_ = json.Unmarshal(fileContent, &pkg)
	}
	return pkg
}

func checkVersion(b *tempBuild, report reportFunc) {
	if v := b.readManifest().Version; !versionPattern().MatchString(v) {
		report("package.json", `version is %q; use three numbers, such as "1.0.0"`, v)
	}
}

func checkMain(b *tempBuild, report reportFunc) {
	if mainFile := b.readManifest().Main; mainFile != "dist/adapter.iife.js" {
		report("package.json", `main is %q; set it to "dist/adapter.iife.js"`, mainFile)
	}
}

func checkFiles(b *tempBuild, report reportFunc) {
	if !slices.ContainsFunc(b.readManifest().Files, func(f string) bool {
		return strings.Trim(strings.TrimPrefix(f, "./"), "/*") == "dist"
	}) {
		report("package.json", `files does not name dist; set it to ["dist"]`)
	}
}

func checkKeyword(b *tempBuild, report reportFunc) {
	if !slices.Contains(b.readManifest().Keywords, "opentabs-plugin") {
		report("package.json", `keywords does not contain "opentabs-plugin"; add it`)
	}
}

func checkScripts(b *tempBuild, report reportFunc) {
	for _, name := range []string{"preinstall", "install", "postinstall"} {
		if _, ok := b.readManifest().Scripts[name]; ok {
			report("package.json", "scripts.%s runs only if npm installs the plugin, not if opentabs does; remove it", name)
		}
	}
}

func checkDependencies(b *tempBuild, report reportFunc) {
	names := []string{}
	for name := range b.readManifest().Dependencies {
		if name != "zod" && name != "@opentabs-dev/plugin-sdk" && name != "@opentabs/sdk" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		report("package.json", "dependencies contains %s, which the build bundles into the adapter; move it to devDependencies", name)
	}
}

func checkDisplayName(b *tempBuild, report reportFunc) {
	name := b.DisplayName
	switch n := utf8.RuneCountInString(name); {
	case n > maxDisplayNameChars:
		report("package.json", "opentabs.displayName has %d characters; shorten it to %d, for example to the name of the site", n, maxDisplayNameChars)
	case name == b.Name && name == strings.ToLower(name):
		report("package.json", "opentabs.displayName is %q, the same as the plugin's name; use the spelling of the site", name)
	}
}

func checkDescription(b *tempBuild, report reportFunc) {
	if n := utf8.RuneCountInString(joinLines(b.Description)); n < minDescriptionChars {
		report("package.json", "opentabs.description has %d characters; describe in a sentence what an agent can do with the plugin", n)
	}
}

// sharedDomainPattern matches domains such as co.uk or github.io, below which anyone can
// register a host.
var sharedDomainPattern = lazyregexp.New(`^(((co|com|org|net|gov|ac|edu)\.[a-z]{2})|github\.io|gitlab\.io|pages\.dev|workers\.dev|web\.app|firebaseapp\.com|appspot\.com|` +
	`vercel\.app|netlify\.app|herokuapp\.com|onrender\.com|fly\.dev|surge\.sh|glitch\.me|repl\.co|blogspot\.com|wordpress\.com|tumblr\.com|` +
	`azurewebsites\.net|cloudfront\.net|amazonaws\.com|ngrok\.io|ngrok-free\.app|trycloudflare\.com)$`)

func checkPatterns(b *tempBuild, report reportFunc) {
	for _, pattern := range b.Matches {
		_, hostAndPath, _ := strings.Cut(pattern, "://")
		host, _, _ := strings.Cut(hostAndPath, "/")
		if parentDomain, ok := strings.CutPrefix(strings.ToLower(host), "*."); ok && sharedDomainPattern().MatchString(parentDomain) {
			report("package.json", "the pattern %s matches all sites below %s, where anyone can register one; name the hosts, or make the host a setting of type url", pattern, parentDomain)
		}
	}
	if n := len(b.Matches); n > maxPatterns {
		report("package.json", "opentabs.urlPatterns has %d patterns; combine them into one with *. before the domain, or use a setting of type url", n)
	}
}

func checkIcon(b *tempBuild, report reportFunc) {
	if _, err := os.Stat(filepath.Join(b.sourceDir, "icon.svg")); err != nil {
		report("icon.svg", "the plugin has no icon; put a square SVG of at most 16 KB beside package.json")
	}
	if len(b.Tools) < 2 {
		return
	}
	for _, t := range b.Tools {
		if t.Icon != "wrench" {
			return
		}
	}
	report("", `no tool has its own icon; set one for each tool by its name at lucide.dev, such as icon: "message-square"`)
}

func checkAdapterSize(b *tempBuild, report reportFunc) {
	if fileInfo, err := os.Stat(filepath.Join(b.outDir, "adapter.iife.js")); err == nil && fileInfo.Size() > largeAdapterBytes {
		report("dist/adapter.iife.js", "the adapter has %.1f MB, of which zod and the SDK have 0.5 MB; find the large import, and load data only in the tool that uses it", float64(fileInfo.Size())/(1<<20))
	}
}

func checkWorld(b *tempBuild, report reportFunc) {
	if b.World == wire.WorldIsolated {
		return
	}
	if pageScriptUses, err := jsbuild.FindPageScriptUses(b.sourceDir); err == nil && len(pageScriptUses) == 0 {
		report("package.json", `the code uses nothing of the page's own JavaScript; set "world": "isolated" under opentabs, so that scripts of the page can neither read nor change its data`)
	}
}

func checkStaleBuild(b *tempBuild, report reportFunc) {
	for _, name := range []string{"adapter.iife.js", "tools.json"} {
		storedFile, err := os.ReadFile(filepath.Join(b.sourceDir, "dist", name))
		if err != nil {
			return // a plugin that is not built does not violate this rule
		}
		if builtContent, err := os.ReadFile(filepath.Join(b.outDir, name)); err == nil && !bytes.Equal(storedFile, builtContent) {
			report("dist/"+name, "this built file does not match the source; run `opentabs plugin build`")
			return
		}
	}
}

func checkTests(b *tempBuild, report reportFunc) {
	hasTest := false
	_ = fs.WalkDir(os.DirFS(b.sourceDir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.IsDir() && (d.Name() == "node_modules" || name != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if fileName := d.Name(); strings.Contains(fileName, ".test.ts") || strings.Contains(fileName, ".test.tsx") {
			hasTest = true
			return fs.SkipAll
		}
		return nil
	})
	if !hasTest {
		report("", "there are no tests; write src/index.test.ts and run `opentabs plugin test`, which needs no browser")
	}
}

func checkReadme(b *tempBuild, report reportFunc) {
	currentReadme, updatedReadme, err := b.readmeTexts()
	switch {
	case err != nil:
		report(readmeFile, "%v", err)
	case len(currentReadme) == 0:
		report(readmeFile, "the plugin has no README; run `opentabs plugin readme`")
	case !bytes.Equal(currentReadme, updatedReadme):
		report(readmeFile, "its tables do not match the plugin; run `opentabs plugin readme`")
	}
}
