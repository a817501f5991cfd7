package layout

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "opentabs"

// allowedImports lists which packages of this repository each package may import. A
// package that is missing in allowedImports fails the test.
var allowedImports = map[string][]string{
	"wire":                  {},
	"dispatch":              {"wire", "dispatch/activity", "dispatch/clock", "dispatch/errtext", "dispatch/events", "dispatch/hops", "dispatch/lazycontext", "dispatch/progress", "dispatch/queue", "internal/humanize"},
	"dispatch/activity":     {"wire", "internal/humanize"},
	"dispatch/clock":        {"wire"},
	"dispatch/errtext":      {"wire"},
	"dispatch/events":       {"wire", "dispatch/activity", "dispatch/hops", "dispatch/progress"},
	"dispatch/hops":         {"wire", "internal/lazyregexp"},
	"dispatch/joblist":      {"wire", "dispatch"},
	"dispatch/lazycontext":  {},
	"dispatch/progress":     {"wire"},
	"dispatch/queue":        {"wire", "internal/humanize"},
	"dispatch/dispatchtest": {"wire", "dispatch", "dispatch/hops"},
	"dispatch/shape":        {"wire", "dispatch", "dispatch/joblist", "internal/plaintext"},
	"plugin":                {"wire", "dispatch", "plugin/schema", "internal/bytefind", "internal/filemark", "internal/jsonread", "internal/lazyregexp", "internal/nearest", "internal/plaintext", "internal/rawjson", "internal/statedoc", "internal/statefile"},
	"plugin/settings":       {"wire", "dispatch", "plugin", "internal/lazyregexp", "internal/nearest", "internal/plaintext", "internal/rawjson", "internal/statedoc"},
	"plugin/faults":         {"wire", "dispatch", "dispatch/errtext", "plugin", "internal/statefile", "internal/rawjson"},
	"plugin/catalog":        {"browser", "plugin", "plugin/settings", "plugin/faults"},
	"browser":               {"wire", "dispatch", "dispatch/errtext", "plugin", "plugin/policy", "internal/filestore", "internal/humanize", "internal/nearest", "internal/plaintext", "internal/rawjson"},
	"plugin/review":         {"plugin", "internal/lazyregexp", "internal/rawjson", "internal/statefile", "internal/bundlecode"},
	"plugin/policy":         {"wire", "dispatch", "plugin", "plugin/settings", "plugin/review", "internal/lazyregexp", "internal/plaintext", "internal/statedoc", "internal/jsonread", "internal/rawjson", "internal/humanize"},
	"plugin/inspection":     {"wire", "plugin", "plugin/settings", "plugin/policy", "plugin/review", "internal/lazyregexp", "internal/plaintext", "internal/humanize"},
	"plugin/schema":         {"wire", "dispatch", "dispatch/errtext", "internal/bytefind", "internal/lazyregexp", "internal/nearest", "internal/plaintext", "internal/rawjson"},
	"plugin/plugintest":     {"plugin", "wire"},
	"wsbridge":              {"wire", "dispatch", "dispatch/hops", "dispatch/shape", "wsbridge/changes", "wsbridge/inbound", "wsbridge/refusallog", "wsbridge/requests", "wsbridge/status", "wsbridge/tabsignal", "internal/httpjson", "internal/loopback"},
	"wsbridge/changes":      {"wire"},
	"wsbridge/refusallog":   {},
	"wsbridge/inbound":      {"wire", "internal/loopback", "internal/lazyregexp", "internal/plaintext"},
	"wsbridge/requests":     {"wire"},
	"wsbridge/status":       {"wire"},
	"wsbridge/tabsignal":    {},
	"wsbridge/wsbridgetest": {"wire"},
	"mcpserver":             {"wire", "dispatch", "dispatch/hops", "dispatch/joblist", "dispatch/shape", "dispatch/errtext", "plugin", "plugin/inspection", "mcpserver/content", "mcpserver/ending", "mcpserver/form", "mcpserver/gateway", "mcpserver/seal", "mcpserver/transport", "internal/sse", "internal/clients", "internal/filestore", "internal/idempotency", "internal/nearest", "internal/plaintext", "internal/rawjson"},
	"mcpserver/ending":      {"internal/clients"},
	"mcpserver/content":     {"internal/rawjson"},
	"mcpserver/seal":        {"internal/rawjson"},
	"mcpserver/form":        {"wire", "dispatch", "internal/plaintext"},
	"mcpserver/gateway":     {"internal/nearest", "internal/plaintext", "internal/rawjson", "internal/toolsearch"},
	"mcpserver/transport":   {"wire", "dispatch", "dispatch/hops", "internal/httpjson", "internal/lazyregexp", "internal/plaintext", "internal/rawjson"},
	"extension":             {},
	"extension/icons":       {},
	"sdk-ts":                {},
	"internal/lazyregexp":   {},
	"internal/version":      {},
	"internal/genwire":      {},
	"internal/crosscheck":   {}, // make lint runs this program
	"internal/clients":      {},
	"internal/toolsearch":   {"internal/nearest"},
	"internal/toolpins":     {"internal/statedoc"},
	"internal/sse":          {},
	"internal/httpjson":     {},
	"internal/loopback":     {},
	"internal/plaintext":    {"internal/rawjson"},
	"internal/rawjson":      {},
	"internal/jsonread":     {"internal/rawjson", "internal/plaintext"},
	"internal/statedoc":     {"internal/rawjson", "internal/statefile"},
	"internal/nearest":      {},
	"internal/filemark":     {},
	"internal/filestore":    {},
	"internal/bytefind":     {},
	"internal/goldentest":   {},
	"internal/leaktest":     {},
	"internal/freeport":     {},
	"internal/alloctest":    {},
	"internal/humanize":     {},
	"internal/statefile":    {},
	"internal/clienttoken":  {"internal/lazyregexp", "internal/statefile"},
	"internal/timeouts":     {"internal/clients", "internal/humanize", "internal/plaintext", "internal/rawjson", "internal/statedoc"},
	"internal/memnet":       {},
	"internal/memory":       {},
	"internal/svgicon":      {"internal/lazyregexp"},
	"internal/realtab":      {},
	"internal/npm":          {"internal/lazyregexp"},
	"internal/npm/npmtest":  {},
	"internal/config":       {"internal/jsonedit", "wire", "dispatch", "internal/nearest", "internal/statefile", "internal/humanize", "internal/lazyregexp", "internal/version"},
	"internal/jsbuild":      {"wire", "plugin", "extension", "sdk-ts", "internal/lazyregexp", "internal/rawjson", "internal/svgicon", "internal/sourcemap", "internal/bundlecode"},
	"internal/author":       {"wire", "plugin", "internal/jsbuild", "internal/lazyregexp", "internal/plaintext", "internal/rawjson", "sdk-ts"},
	"internal/httpapi":      {"wire", "dispatch", "dispatch/hops", "plugin", "dispatch/shape", "internal/httpjson", "internal/sse", "internal/loopback", "internal/plaintext", "internal/pluginlog", "internal/recorder"},
	"internal/mcpclient":    {"internal/sse", "internal/rawjson"},
	"internal/waterfall":    {"wire", "dispatch", "dispatch/hops"},
	"internal/calldetails":  {"wire", "dispatch", "dispatch/hops", "internal/plaintext", "internal/pluginlog", "internal/waterfall"},
	"internal/metrics":      {"dispatch", "internal/version"},
	"internal/otlp":         {"dispatch", "wire", "internal/version", "internal/waterfall"},
	"internal/audit":        {"wire", "dispatch", "dispatch/shape", "internal/linefile", "internal/rawjson"},
	"internal/linefile":     {"internal/statefile"},
	"internal/pluginlog":    {"wire", "internal/linefile", "internal/rawjson", "internal/redact"},
	"internal/idempotency":  {"wire", "dispatch", "dispatch/joblist", "internal/rawjson", "internal/recorder"},
	"internal/undo":         {"wire", "dispatch", "dispatch/joblist", "plugin", "internal/recorder"},
	"internal/recorder":     {"wire", "dispatch", "dispatch/events", "dispatch/shape", "internal/lazyregexp", "internal/rawjson", "internal/redact"},
	"internal/redact":       {"internal/lazyregexp", "internal/rawjson"},
	"internal/logfile":      {},
	"internal/portowner":    {},
	"internal/scriptcheck":  {"internal/config", "internal/jsbuild", "internal/statefile"},
	"internal/permissions":  {"browser", "wire", "plugin", "plugin/catalog", "plugin/inspection", "plugin/policy", "internal/audit", "internal/httpapi", "internal/usererr"},
	"internal/home":         {"internal/browsernames", "wire", "plugin", "plugin/catalog", "plugin/policy", "plugin/settings", "internal/audit", "internal/clienttoken", "internal/config", "internal/httpapi", "internal/logfile", "internal/npm", "internal/permissions", "internal/portowner", "internal/scriptcheck", "internal/usererr", "internal/version"},
	"internal/daemon":       {"dispatch/hops", "internal/metrics", "internal/otlp", anyPackage},
	"internal/browsertest":  {anyPackage},
	"internal/usererr":      {},
	"internal/panelplugins": {"wire", "internal/home", "internal/install", "internal/permissions", "internal/usererr", "plugin"},
	"internal/install":      {"plugin", "plugin/catalog", "internal/config", "internal/home", "internal/npm", "internal/statefile", "internal/terminal", "internal/usererr", "internal/version"},
	"internal/settingsform": {"wire", "plugin", "plugin/settings", "internal/usererr"},
	"internal/bundlecode":   {"internal/lazyregexp"},
	"internal/codeframe":    {"internal/terminal"},
	"internal/sourcemap":    {"internal/lazyregexp"},
	"internal/stacktrace":   {"internal/lazyregexp", "internal/sourcemap"},
	"internal/plugindev":    {"wire", "plugin", "internal/author", "internal/config", "internal/home", "internal/httpapi", "internal/humanize", "internal/jsbuild", "internal/nearest", "internal/pluginlog", "internal/terminal", "dispatch", "dispatch/dispatchtest", "internal/callview", "internal/pluginview"},
	"internal/relay":        {"internal/home", "internal/httpapi", "internal/rawjson"},
	"internal/extensiondir": {"internal/config", "internal/home", "internal/httpapi", "internal/jsbuild", "internal/statefile", "internal/usererr", "internal/version"},
	"internal/layout":       {"browser", "wire", "internal/config"},
	"internal/bench":        {"wire", "dispatch", "dispatch/hops", "plugin", "mcpserver", "wsbridge", "internal/bench/peer", "internal/bench/smoke", "internal/clienttoken", "internal/daemon", "internal/httpapi", "internal/memory"}, // a program for developers
	"internal/bench/peer":   {"wire", "dispatch"},
	"internal/release":      {"internal/jsbuild", "internal/lazyregexp", "internal/version"}, // make release runs it
	"internal/bench/smoke":  {},
	"internal/terminal":     {"internal/plaintext", "internal/rawjson"},
	"internal/callview":     {"wire", "dispatch", "internal/waterfall", "internal/httpapi", "internal/recorder", "internal/terminal", "internal/humanize", "internal/usererr"},
	"internal/testrun":      {"internal/browsertest", "internal/jsbuild", "internal/terminal", "internal/usererr", "internal/codeframe"},
	"internal/callprompt":   {"wire", "dispatch", "internal/callview", "internal/httpapi", "internal/recorder", "internal/terminal"},
	"internal/toolcall":     {"wire", "dispatch", "internal/callprompt", "internal/callview", "internal/httpapi", "internal/idempotency", "internal/mcpclient", "internal/nearest", "internal/terminal", "internal/usererr", "internal/version", "internal/rawjson"},
	"internal/pluginview":   {"browser", "wire", "plugin", "plugin/inspection", "internal/httpapi", "internal/humanize", "internal/pluginlog", "internal/terminal"},
	"internal/statusview":   {"wire", "internal/httpapi", "internal/humanize", "internal/pluginview", "internal/terminal"},
	"internal/auditview":    {"wire", "internal/audit", "internal/callview", "internal/humanize", "internal/terminal"},
	"internal/browsernames": {"wire", "dispatch", "internal/statefile"},
	"internal/diskspace":    {},
	"internal/doctor":       {"browser", "wire", "extension", "internal/clienttoken", "internal/mcpclient", "internal/npm", "internal/setup", "plugin", "plugin/catalog", "plugin/policy", "plugin/settings", "internal/clients", "internal/timeouts", "internal/config", "internal/extensiondir", "internal/home", "internal/httpapi", "internal/jsbuild", "internal/permissions", "internal/portowner", "internal/terminal", "internal/humanize", "internal/version"},
	"cmd/opentabs":          {anyPackage},

	"internal/terminal/terminaltest": {},
	"internal/jsonedit":              {},
	"internal/cli":                   {anyPackage},
	"internal/cli/plugincmd":         {anyPackage},
	"internal/cli/setupcmd":          {anyPackage},
	"internal/cli/installcmd":        {anyPackage},
	"internal/installed":             {"internal/lazyregexp"},
	"internal/upgrade":               {"internal/lazyregexp", "internal/version"},
	"internal/service":               {},
	"internal/pairing":               {"wire", "internal/statefile"},
	"internal/cli/democmd":           {anyPackage},
	"internal/cli/paircmd":           {anyPackage},
	"internal/toolview":              {"internal/plaintext", "internal/rawjson"},
	"internal/setup":                 {"internal/jsonedit", "internal/lazyregexp", "internal/statefile"},
	"internal/browserprofile":        {"internal/plaintext"},
}

const anyPackage = "*"

// allowedTestImports lists the additional packages that the tests of a package may
// import.
var allowedTestImports = map[string][]string{
	"internal/browsernames": {"dispatch/dispatchtest"},
	"internal/idempotency":  {"dispatch/dispatchtest"},
	"internal/undo":         {"dispatch/dispatchtest"},
	"wire":                  {"internal/alloctest"},
	"dispatch":              {"internal/alloctest", "internal/goldentest", "internal/leaktest", "dispatch/dispatchtest"},
	"dispatch/activity":     {"internal/leaktest"},
	"dispatch/events":       {"internal/leaktest"},
	"dispatch/lazycontext":  {"internal/leaktest"},
	"mcpserver/gateway":     {"internal/goldentest"},
	"dispatch/dispatchtest": {"internal/goldentest"},
	"dispatch/joblist":      {"dispatch/dispatchtest"},
	"dispatch/shape":        {"dispatch/dispatchtest", "internal/audit", "internal/goldentest"},
	"dispatch/progress":     {"internal/leaktest"},
	"plugin":                {"plugin/plugintest", "plugin/policy", "dispatch/dispatchtest"},
	"browser":               {"dispatch/dispatchtest"},
	"plugin/schema":         {"internal/alloctest"},
	"plugin/settings":       {"plugin/plugintest"},
	"plugin/faults":         {"plugin/plugintest"},
	"plugin/policy":         {"plugin/plugintest", "dispatch/dispatchtest"},
	"plugin/inspection":     {"plugin/plugintest"},
	"wsbridge":              {"internal/alloctest", "internal/goldentest", "internal/leaktest", "dispatch/dispatchtest", "internal/memnet"},
	"wsbridge/wsbridgetest": {"wsbridge", "wsbridge/changes", "dispatch"},
	"mcpserver":             {"internal/alloctest", "internal/goldentest", "internal/leaktest", "internal/recorder", "dispatch/dispatchtest", "plugin/plugintest", "plugin/policy", "plugin/settings"},
	"mcpserver/transport":   {"internal/alloctest", "internal/leaktest"},
	"internal/httpapi":      {"internal/alloctest", "internal/goldentest", "internal/leaktest", "dispatch/dispatchtest", "internal/memnet"},
	"internal/genwire":      {"internal/goldentest"},
	"internal/mcpclient":    {"internal/leaktest", "internal/memnet"},
	"internal/npm":          {"internal/npm/npmtest"},
	"internal/panelplugins": {"internal/config", "internal/npm/npmtest", "plugin/catalog", "plugin/plugintest", "plugin/policy", "plugin/settings"},
	"internal/install":      {"internal/npm/npmtest", "plugin/plugintest"},
	"internal/callprompt":   {"internal/terminal/terminaltest"},
	"internal/toolcall":     {"internal/plaintext"},
	"internal/home":         {"dispatch", "internal/freeport", "plugin/plugintest"},
	"internal/doctor":       {"internal/freeport", "plugin/plugintest"},
	"internal/metrics":      {"wire"},
	"internal/otlp":         {"dispatch/hops"},
	"internal/callview":     {"dispatch/dispatchtest", "dispatch/hops", "internal/goldentest", "internal/plaintext", "internal/terminal/terminaltest"},
	"internal/permissions":  {"dispatch", "dispatch/shape", "plugin/plugintest", "plugin/settings"},
	"plugin/catalog":        {"plugin/plugintest"},
	"plugin/review":         {"plugin/plugintest"},
	"internal/auditview":    {"dispatch", "dispatch/shape"},
	"internal/bench":        {"plugin/plugintest"},
	"internal/recorder":     {"dispatch/dispatchtest"},
	"internal/release":      {"internal/npm/npmtest"},
	"internal/terminal":     {"internal/terminal/terminaltest"},
}

// The type library is a third-party module that this repository depends on.
type library struct {
	// The field importers contains the packages that may import the library. If importers
	// contains anyPackage, every package except wire may import the library.
	importers []string
	why       string
}

var libraries = map[string]library{
	"github.com/coder/websocket": {[]string{"wsbridge", "wsbridge/wsbridgetest", "internal/bench", "internal/bench/peer"}, // internal/bench measures the library alone as a baseline
		"the WebSocket protocol: closing handshake, masking, limits"},
	"github.com/mark3labs/mcp-go": {[]string{"mcpserver", "mcpserver/transport"}, "the MCP protocol in all its versions"},
	"github.com/spf13/cobra":      {[]string{"cmd/opentabs", "internal/cli", "internal/cli/installcmd", "internal/cli/plugincmd", "internal/cli/setupcmd", "internal/cli/democmd", "internal/cli/paircmd"}, "commands, flags, help, completions"},
	"github.com/spf13/pflag":      {[]string{"cmd/opentabs"}, "the flags of cobra's commands"},
	"github.com/evanw/esbuild":    {[]string{"internal/jsbuild"}, "bundles TypeScript without Node"},
	"modernc.org/quickjs":         {[]string{"internal/jsbuild"}, "runs a plugin's schemas at build time, in pure Go"},
	"github.com/santhosh-tekuri/jsonschema/v6": {[]string{"plugin/schema"},
		"validates arguments against JSON Schema and reports all violations"},
	"github.com/dlclark/regexp2": {[]string{"plugin/schema"}, "patterns of JSON Schema that RE2 can't run"},
	"github.com/rs/zerolog":      {[]string{anyPackage}, "structured logs without allocation"},
	"github.com/rogpeppe/go-internal": {[]string{"cmd/opentabs", "internal/setup", "plugin/review"},
		"testscript: the command line is tested by scripts that run the real main; diff: what changed since a review, and what setup changes"},
	"github.com/evanphx/json-patch/v5": {[]string{"dispatch/activity"}, "applies the JSON Patches (RFC 6902) of activities"},
	"github.com/Masterminds/semver/v3": {[]string{"internal/npm", "internal/npm/npmtest"}, "versions and ranges of npm packages"},
	"github.com/chromedp/chromedp":     {[]string{"internal/realtab"}, "starts a browser and controls it through a pipe"},
	"github.com/chromedp/cdproto":      {[]string{"internal/realtab"}, "the commands of the DevTools protocol, for chromedp"},
	"golang.org/x/sys":                 {[]string{"internal/home", "internal/portowner", "internal/terminal"}, "consoles and process details of each system"},
	"golang.org/x/term":                {[]string{"internal/terminal"}, "the size of a terminal; reads a secret without showing it"},
	"golang.org/x/tools":               {[]string{"internal/crosscheck"}, "checks types for other systems without building; not in the program"},

	"github.com/tailscale/hujson":          {[]string{"internal/jsonedit"}, "JSON with comments, as editors write their settings, changed in place"},
	"github.com/pelletier/go-toml/v2":      {[]string{"internal/setup"}, "the configuration of MCP clients in TOML"},
	"go.yaml.in/yaml/v3":                   {[]string{"internal/setup"}, "the configuration of MCP clients in YAML"},
	"github.com/gofrs/flock":               {[]string{"internal/statefile"}, "file locks of each system"},
	"github.com/agnivade/levenshtein":      {[]string{"internal/nearest"}, "edit distance of two names"},
	"github.com/shirou/gopsutil/v4":        {[]string{"internal/diskspace", "internal/portowner"}, "free space of a disk; which process listens on a port, on each system"},
	"github.com/VictoriaMetrics/metrics":   {[]string{"internal/metrics"}, "counters and histograms in the format of Prometheus"},
	"github.com/clipperhouse/displaywidth": {[]string{"internal/terminal"}, "columns of a text in a terminal, by Unicode's tables and grapheme clusters"},
}

type goFile struct {
	name, dir   string
	test        bool
	isGenerated bool
	fset        *token.FileSet
	ast         *ast.File
	sourceCode  string
}

func (f goFile) at(n ast.Node) string {
	p := f.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", f.name, p.Line)
}

func (f goFile) lines(n ast.Node) int {
	return f.fset.Position(n.End()).Line - f.fset.Position(n.Pos()).Line + 1
}

func parseGo(name, sourceCode string) (goFile, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, sourceCode, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return goFile{}, err
	}
	return goFile{
		name: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), isGenerated: ast.IsGenerated(file),
		fset: fset, ast: file, sourceCode: sourceCode,
	}, nil
}

// excludedDirs are directories with installed, generated or third-party files, or with
// test data.
var excludedDirs = []string{"node_modules", "testdata", "vendor", "third_party", "dist", "bin", "artifacts"}

func walkFiles(visitItem func(name string) error) error {
	return fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(excludedDirs, d.Name()) || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return visitItem(name)
	})
}

var goFiles = sync.OnceValues(func() ([]goFile, error) {
	var files []goFile
	err := walkFiles(func(name string) error {
		if path.Ext(name) != ".go" {
			return nil
		}
		sourceCode, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parseGo(name, string(sourceCode))
		files = append(files, f)
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no Go files seen")
	}
	return files, err
})

func TestAllowedImports(t *testing.T) {
	changeToRepositoryRoot(t)
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	seenDirs := map[string]bool{}
	for _, f := range files {
		seenDirs[f.dir] = true
		report(t, checkImports(f))
	}
	for dir := range allowedImports {
		if !seenDirs[dir] {
			t.Errorf("mayImport has an entry for %s, which does not exist; remove the entry", dir)
		}
	}
}

func checkImports(f goFile) []string {
	var violations []string
	allowedPaths, ok := allowedImports[f.dir]
	if !ok {
		return []string{fmt.Sprintf("%s: package %s is not in mayImport (internal/layout/imports_test.go); decide what it may import", f.name, f.dir)}
	}
	if f.test {
		// A test in an external test package, such as wire_test, also imports the package
		// under test.
		allowedPaths = slices.Concat(allowedPaths, allowedTestImports[f.dir], []string{f.dir})
	}
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return append(violations, err.Error())
		}
		localPath, isOwnPackage := strings.CutPrefix(p, module+"/")
		firstPathElement, _, _ := strings.Cut(p, "/")
		switch {
		case isOwnPackage && !slices.Contains(allowedPaths, localPath) && !slices.Contains(allowedPaths, anyPackage):
			violations = append(violations, fmt.Sprintf("%s: %s may not import %s", f.at(spec), f.dir, localPath))
		case !isOwnPackage && strings.Contains(firstPathElement, "."):
			violations = append(violations, checkLibraryImport(f, spec, p)...)
		}
	}
	return violations
}

func checkLibraryImport(f goFile, spec ast.Node, p string) []string {
	for modulePath, lib := range libraries {
		if p != modulePath && !strings.HasPrefix(p, modulePath+"/") {
			continue
		}
		if slices.Contains(lib.importers, f.dir) || slices.Contains(lib.importers, anyPackage) && f.dir != "wire" {
			return nil
		}
		return []string{fmt.Sprintf("%s: only %s may import %s", f.at(spec), strings.Join(lib.importers, ", "), modulePath)}
	}
	return []string{fmt.Sprintf("%s: %s is not in libraries (internal/layout/imports_test.go); add it with its importers and the reason", f.at(spec), p)}
}

func TestLibraryImports(t *testing.T) {
	changeToRepositoryRoot(t)
	fileContent, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	requiredModules := map[string]bool{}
	for line := range strings.Lines(string(fileContent)) {
		sentenceWords := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(sentenceWords) >= 2 && strings.HasPrefix(sentenceWords[1], "v") && !strings.Contains(line, "// indirect") {
			requiredModules[sentenceWords[0]] = true
		}
	}
	for modulePath := range requiredModules {
		if _, ok := libraries[modulePath]; !ok {
			t.Errorf("go.mod requires %s; add it to libraries (internal/layout/imports_test.go) with its importers and the reason", modulePath)
		}
	}
	for modulePath, lib := range libraries {
		if !requiredModules[modulePath] {
			t.Errorf("libraries has %s, which go.mod does not require directly; remove the entry or run go mod tidy", modulePath)
		}
		if lib.why == "" || len(lib.importers) == 0 {
			t.Errorf("libraries: %s needs a reason and an importer", modulePath)
		}
	}
}

func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}
