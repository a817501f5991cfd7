package author

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"opentabs/internal/jsbuild"
	"opentabs/wire"
)

const (
	maxDisplayNameChars = 40
	minDescriptionChars = 20
	maxPatterns         = 10
	// largeAdapterBytes is what a page notices; each page that matches evaluates the
	// adapter.
	largeAdapterBytes = 2 << 20
)

// packageRules are those about package.json and files.
var packageRules = []rule{
	{Rule{"package-version", "npm takes versions of three numbers only, and an update is found by comparing them."}, levelError, checkVersion},
	{Rule{"package-main", "Programs that know the format look there for the adapter."}, levelWarning, checkMain},
	{Rule{"package-files", "Without it npm publish leaves out what git ignores, which dist mostly is."}, levelWarning, checkFiles},
	{Rule{"package-keyword", "It is by this keyword that `opentabs plugin search` finds a plugin."}, levelWarning, checkKeyword},
	{Rule{"package-scripts", "Nothing runs them when the plugin is installed, and whoever reviews it has to read them."}, levelWarning, checkScripts},
	{Rule{"package-dependencies", "An adapter holds all it needs, so nothing is installed with a plugin."}, levelWarning, checkDependencies},
	{Rule{"display-name", "It is what people see in the side panel and in questions."}, levelWarning, checkDisplayName},
	{Rule{"description", "It is by this sentence that people decide whether they want the plugin."}, levelWarning, checkDescription},
	{Rule{"pattern-wide", "Everybody can have a page on some hosts; a plugin that works on all of them lends its tools to strangers."}, levelWarning, checkPatterns},
	{Rule{"icon", "People tell plugins apart by their icons."}, levelWarning, checkIcon},
	{Rule{"adapter-size", "Each page that matches reads and runs the whole adapter before its own scripts."}, levelWarning, checkAdapterSize},
	{Rule{"world-isolated", "Scripts of a page can see and change what an adapter in the main world works with; those that need nothing of the page's own JavaScript can do without that world."}, levelSuggestion, checkWorld},
	{Rule{"dist-stale", "What is added and packed is dist, not the source."}, levelWarning, checkStale},
	{Rule{"tests", "A site changes without a word; tests say which tool no longer fits."}, levelWarning, checkTests},
	{Rule{"readme", "People who choose a plugin read its README, and what it says of the tools should be true."}, levelWarning, checkReadme},
}

// packageJSON is what the rules read of package.json.
type packageJSON struct {
	Version      string            `json:"version"`
	Main         string            `json:"main"`
	Files        []string          `json:"files"`
	Keywords     []string          `json:"keywords"`
	Scripts      map[string]string `json:"scripts"`
	Dependencies map[string]string `json:"dependencies"`
}

// manifest reads package.json. Members of another type than they should have are
// left out: what matters of them the build has told.
func (b *built) manifest() packageJSON {
	var pkg packageJSON
	if text, err := os.ReadFile(filepath.Join(b.source, "package.json")); err == nil {
		_ = json.Unmarshal(text, &pkg)
	}
	return pkg
}

type foundFunc = func(where, format string, args ...any)

func checkVersion(b *built, found foundFunc) {
	if v := b.manifest().Version; !semver.MatchString(v) {
		found("package.json", `version is %q; make it three numbers, such as "1.0.0"`, v)
	}
}

func checkMain(b *built, found foundFunc) {
	if main := b.manifest().Main; main != "dist/adapter.iife.js" {
		found("package.json", `main is %q; set it to "dist/adapter.iife.js"`, main)
	}
}

func checkFiles(b *built, found foundFunc) {
	if !slices.ContainsFunc(b.manifest().Files, func(f string) bool {
		return strings.Trim(strings.TrimPrefix(f, "./"), "/*") == "dist"
	}) {
		found("package.json", `files does not name dist; set it to ["dist"]`)
	}
}

func checkKeyword(b *built, found foundFunc) {
	if !slices.Contains(b.manifest().Keywords, "opentabs-plugin") {
		found("package.json", `keywords does not hold "opentabs-plugin"; add it`)
	}
}

func checkScripts(b *built, found foundFunc) {
	for _, name := range []string{"preinstall", "install", "postinstall"} {
		if _, ok := b.manifest().Scripts[name]; ok {
			found("package.json", "scripts.%s runs when npm installs the plugin, and never when opentabs does; take it out", name)
		}
	}
}

func checkDependencies(b *built, found foundFunc) {
	names := []string{}
	for name := range b.manifest().Dependencies {
		if name != "zod" && name != "@opentabs-dev/plugin-sdk" && name != "@opentabs/sdk" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		found("package.json", "dependencies names %s, which the build puts into the adapter; move it to devDependencies", name)
	}
}

func checkDisplayName(b *built, found foundFunc) {
	name := b.DisplayName
	switch n := utf8.RuneCountInString(name); {
	case n > maxDisplayNameChars:
		found("package.json", "opentabs.displayName has %d characters; shorten it to %d: the name of the site is mostly enough", n, maxDisplayNameChars)
	case name == b.Name && name == strings.ToLower(name):
		found("package.json", "opentabs.displayName is %q, as the plugin's name; write it as the site writes itself", name)
	}
}

func checkDescription(b *built, found foundFunc) {
	if n := utf8.RuneCountInString(oneLine(b.Description)); n < minDescriptionChars {
		found("package.json", "opentabs.description has %d characters; say in a sentence what an agent can do with it", n)
	}
}

// shared are domains below which everybody can have a host of his own.
var shared = regexp.MustCompile(`^(((co|com|org|net|gov|ac|edu)\.[a-z]{2})|github\.io|gitlab\.io|pages\.dev|workers\.dev|web\.app|firebaseapp\.com|appspot\.com|` +
	`vercel\.app|netlify\.app|herokuapp\.com|onrender\.com|fly\.dev|surge\.sh|glitch\.me|repl\.co|blogspot\.com|wordpress\.com|tumblr\.com|` +
	`azurewebsites\.net|cloudfront\.net|amazonaws\.com|ngrok\.io|ngrok-free\.app|trycloudflare\.com)$`)

func checkPatterns(b *built, found foundFunc) {
	for _, pattern := range b.Matches {
		_, rest, _ := strings.Cut(pattern, "://")
		host, _, _ := strings.Cut(rest, "/")
		if below, ok := strings.CutPrefix(strings.ToLower(host), "*."); ok && shared.MatchString(below) {
			found("package.json", "the pattern %s takes in the pages of everybody below %s; name the hosts, or make the host a setting of type url", pattern, below)
		}
	}
	if n := len(b.Matches); n > maxPatterns {
		found("package.json", "opentabs.urlPatterns has %d patterns; make one of them with *. before the domain, or a setting of type url", n)
	}
}

func checkIcon(b *built, found foundFunc) {
	if _, err := os.Stat(filepath.Join(b.source, "icon.svg")); err != nil {
		found("icon.svg", "there is none; put a square SVG of at most 16 KB beside package.json")
	}
	if len(b.Tools) < 2 {
		return
	}
	for _, t := range b.Tools {
		if t.Icon != "wrench" {
			return
		}
	}
	found("", `no tool has an icon of its own; give each one by its name at lucide.dev, as in icon: "message-square"`)
}

func checkAdapterSize(b *built, found foundFunc) {
	if info, err := os.Stat(filepath.Join(b.out, "adapter.iife.js")); err == nil && info.Size() > largeAdapterBytes {
		found("dist/adapter.iife.js", "it has %.1f MB, and zod with the SDK has 0.5 MB; look for a large import, and load data where a tool needs it", float64(info.Size())/(1<<20))
	}
}

func checkWorld(b *built, found foundFunc) {
	if b.World == wire.WorldIsolated {
		return
	}
	if uses, err := jsbuild.PageUses(b.source); err == nil && len(uses) == 0 {
		found("package.json", `the code uses nothing of the page's own JavaScript; set "world": "isolated" under opentabs, so that scripts of the page can neither read nor change what it works with`)
	}
}

func checkStale(b *built, found foundFunc) {
	for _, name := range []string{"adapter.iife.js", "tools.json"} {
		old, err := os.ReadFile(filepath.Join(b.source, "dist", name))
		if err != nil {
			return // it was not built, which is no fault
		}
		if fresh, err := os.ReadFile(filepath.Join(b.out, name)); err == nil && !bytes.Equal(old, fresh) {
			found("dist/"+name, "it is not what the source makes now; run `opentabs plugin build`")
			return
		}
	}
}

func checkTests(b *built, found foundFunc) {
	seen := false
	_ = fs.WalkDir(os.DirFS(b.source), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.IsDir() && (d.Name() == "node_modules" || name != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if base := d.Name(); strings.Contains(base, ".test.ts") || strings.Contains(base, ".test.tsx") {
			seen = true
			return fs.SkipAll
		}
		return nil
	})
	if !seen {
		found("", "there are no tests; write src/index.test.ts and run `opentabs plugin test`, which needs no browser")
	}
}

func checkReadme(b *built, found foundFunc) {
	old, fresh, err := b.readme()
	switch {
	case err != nil:
		found(readmeFile, "%v", err)
	case len(old) == 0:
		found(readmeFile, "there is none; run `opentabs plugin readme`")
	case !bytes.Equal(old, fresh):
		found(readmeFile, "its table of tools is not that of the plugin; run `opentabs plugin readme`")
	}
}
