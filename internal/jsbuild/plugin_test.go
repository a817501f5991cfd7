package jsbuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"opentabs/plugin"
	sdkts "opentabs/sdk-ts"
)

var exampleDirs = []string{"../../sdk-ts/examples/messages", "../../sdk-ts/examples/patterns", "../../e2e/testdata/messages"}

var exampleTools = []string{"export_messages", "count_authors", "compare_channels", "who_am_i", "countdown", "silent", "echo", "big", "reports", "heartbeat", "stubborn", "navigate", "fail", "draw"}

func copyExample(dir string) error {
	for _, pluginDir := range exampleDirs {
		err := filepath.WalkDir(pluginDir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(pluginDir, path)
			if err != nil {
				return err
			}
			fileContent, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			copyDir := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(copyDir), 0o755); err != nil {
				return err
			}
			return os.WriteFile(copyDir, fileContent, 0o644)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// buildFreshExample uses a directory that has no parent directory with node_modules.
func buildFreshExample(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := copyExample(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, fileContent := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(fileContent), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var buildSharedExample = sync.OnceValues(func() (*BuildResult, error) {
	dir, err := os.MkdirTemp("", "jsbuild-example-")
	if err != nil {
		return nil, err
	}
	if err := copyExample(dir); err != nil {
		return nil, err
	}
	return BuildPlugin(context.Background(), dir, Options{Extract: childArgs, ExtractTimeout: longTimeout})
})

func buildExampleOnce(t testing.TB) *BuildResult {
	t.Helper()
	b, err := buildSharedExample()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func buildPlugin(t testing.TB, dir string) *BuildResult {
	t.Helper()
	b, err := BuildPlugin(t.Context(), dir, Options{Extract: childArgs, ExtractTimeout: longTimeout})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readFileIn(t testing.TB, dir, name string) []byte {
	t.Helper()
	fileContent, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return fileContent
}

func TestBuildExample(t *testing.T) {
	b := buildExampleOnce(t)
	dir := b.Dir
	if b.Name != "messages" || b.DisplayName != "Messages" || b.Version != "0.1.0" || len(b.Warnings) > 0 {
		t.Errorf("built plugin = %+v, want Messages in version 0.1.0 without warnings", b)
	}
	var names []string
	for _, tool := range b.Tools {
		names = append(names, tool.Name)
	}
	if got, want := strings.Join(names, " "), strings.Join(exampleTools, " "); got != want {
		t.Errorf("tools of the built plugin = %s, want %s", got, want)
	}
	for i, name := range []string{"adapter.iife.js", "adapter.iife.js.map", "tools.json"} {
		fileInfo, err := os.Stat(filepath.Join(dir, "dist", name))
		if err != nil {
			t.Fatal(err)
		}
		if b.Files[i].Path != filepath.Join(b.Dir, "dist", name) || int64(b.Files[i].Bytes) != fileInfo.Size() {
			t.Errorf("Files[%d] is %+v, want %s with %d bytes", i, b.Files[i], name, fileInfo.Size())
		}
	}
	if leftoverFiles, err := filepath.Glob(filepath.Join(dir, "dist", ".*")); err != nil || len(leftoverFiles) > 0 {
		t.Errorf("the build left the temporary files %v, error %v; want none", leftoverFiles, err)
	}
	loadedPlugin, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(loadedPlugin.Tools) != len(exampleTools) || loadedPlugin.SDKVersion != "opentabs-"+sdkts.Version() || loadedPlugin.IsForOriginalSDK || len(loadedPlugin.Warnings) > 0 {
		t.Errorf("loaded plugin = %+v, want all tools, this SDK version and no warnings", loadedPlugin)
	}
	if len(b.Prompts) != 1 || b.Prompts[0].Name != "summarise_channel" || b.Prompts[0].Description == "" {
		t.Errorf("prompts of the built plugin = %+v, want only summarise_channel with a description", b.Prompts)
	}
	prompt := loadedPlugin.Prompts[0]
	want := []plugin.PromptArgument{
		{Name: "channelId", Description: "The channel's id, such as general", Required: true},
		{Name: "last", Description: "How many messages to summarise; 50 by default"},
	}
	if len(loadedPlugin.Prompts) != 1 || prompt.FullName() != "messages__summarise_channel" || !slices.Equal(prompt.Arguments, want) {
		t.Errorf("loaded prompt = %+v, want messages__summarise_channel with two arguments", prompt)
	}
	if args, err := prompt.Validate(json.RawMessage(`{"channelId":"5","last":"20"}`)); err != nil || string(args) != `{"channelId":"5","last":20}` {
		t.Errorf("validated arguments = %s, error %v; want channelId \"5\" and last 20", args, err)
	}
}

func TestAdapterContainsItsHash(t *testing.T) {
	b := buildExampleOnce(t)
	code := string(readFileIn(t, b.Dir, "dist/adapter.iife.js"))
	endIndex := strings.LastIndex(code, "(function(){var o=(globalThis).__openTabs;")
	if endIndex < 0 {
		t.Fatal("the adapter lacks the statement that stores its hash, want this statement at the end")
	}
	checksum := sha256.Sum256([]byte(code[:endIndex]))
	regexpMatch := regexp.MustCompile(`\.__adapterHash="([0-9a-f]{64})"`).FindStringSubmatch(code)
	if regexpMatch == nil || regexpMatch[1] != hex.EncodeToString(checksum[:]) || regexpMatch[1] != b.Hash {
		t.Errorf("hash in the adapter = %v, BuildResult.Hash = %s, hash of the code = %x; want equal hashes", regexpMatch, b.Hash, checksum)
	}
	if !strings.HasSuffix(code, "\n//# sourceMappingURL=adapter.iife.js.map\n") {
		t.Errorf("the adapter ends with %q; want a text that ends with %q", code[len(code)-80:], "\n//# sourceMappingURL=adapter.iife.js.map\n")
	}
	if !strings.HasPrefix(code, licenseNotice+"\n\"use strict\";\n(() => {") {
		t.Errorf("the adapter begins with %q, want the license notice and strict mode", code[:200])
	}
}

func TestSourceMapContainsSourceFiles(t *testing.T) {
	dir := buildExampleOnce(t).Dir
	var m struct {
		Sources        []string
		SourcesContent []string
	}
	if err := json.Unmarshal(readFileIn(t, dir, "dist/adapter.iife.js.map"), &m); err != nil {
		t.Fatal(err)
	}
	for i, name := range m.Sources {
		if name == "../src/tools/echo.ts" {
			if m.SourcesContent[i] != string(readFileIn(t, dir, "src/tools/echo.ts")) {
				t.Error("the source map has another text of src/tools/echo.ts, want the text of the file")
			}
			return
		}
	}
	t.Errorf("sources of the source map = %q, want src/tools/echo.ts among them", m.Sources)
}

func TestBuildWithDefaultExtractProcess(t *testing.T) {
	if _, err := BuildPlugin(t.Context(), buildFreshExample(t), Options{ExtractTimeout: longTimeout}); err != nil {
		t.Fatal(err)
	}
}

func TestBuildIsReproducible(t *testing.T) {
	firstDir, secondDir := buildExampleOnce(t).Dir, buildFreshExample(t)
	buildPlugin(t, secondDir)
	for _, name := range []string{"adapter.iife.js", "adapter.iife.js.map", "tools.json"} {
		a, b := readFileIn(t, firstDir, "dist/"+name), readFileIn(t, secondDir, "dist/"+name)
		if string(a) != string(b) {
			t.Errorf("two builds of the same source differ in %s, want equal files", name)
		}
		if strings.Contains(string(a), firstDir) {
			t.Errorf("%s contains the path of the build directory, want only relative paths", name)
		}
	}
}

func TestInstalledZod(t *testing.T) {
	vendoredZod, err := fs.Sub(sdkts.Source, "vendor/zod")
	if err != nil {
		t.Fatal(err)
	}
	dir := buildFreshExample(t)
	if err := os.CopyFS(filepath.Join(dir, "node_modules/zod"), vendoredZod); err != nil {
		t.Fatal(err)
	}
	b := buildPlugin(t, dir)
	code := string(readFileIn(t, dir, "dist/adapter.iife.js"))
	if !strings.Contains(code, "// node_modules/zod/v4/classic/schemas.js") || strings.Contains(code, "opentabs:zod") {
		t.Error("the adapter lacks the installed zod or contains the embedded zod, want only the installed zod")
	}
	if strings.Contains(code, "globalThis.__zod") || strings.Contains(code, dir) || len(b.Warnings) > 0 {
		t.Error("the adapter uses globalThis.__zod or contains the path of the plugin, or the build has warnings; want none of these")
	}
	if string(readFileIn(t, dir, "dist/tools.json")) != string(readFileIn(t, buildExampleOnce(t).Dir, "dist/tools.json")) {
		t.Error("tools.json of a build with the installed zod differs from a build with the embedded zod, want equal files")
	}
}

func TestFindZod(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"old/node_modules/zod/package.json": `{"version":"3.24.1"}`,
		"new/node_modules/zod/package.json": `{"version":"4.0.0"}`,
		"new/packages/a/package.json":       `{}`,
		"none/package.json":                 `{}`,
	})
	if z := findZod(filepath.Join(dir, "new/packages/a")); !z.Installed || z.Warning != "" {
		t.Errorf("findZod with zod 4 in a parent directory = %+v, want the installed zod", z)
	}
	if z := findZod(filepath.Join(dir, "old")); z.Installed || !strings.Contains(z.Warning, "zod 3.24.1 is installed, but plugins need zod 4") {
		t.Errorf("findZod with zod 3 = %+v, want the embedded zod and a warning", z)
	}
	if z := findZod(filepath.Join(dir, "none")); z.Installed || z.Warning != "" {
		t.Errorf("findZod without an installed zod = %+v, want the embedded zod and no warning", z)
	}
}

func TestAdapterSize(t *testing.T) {
	if b := buildExampleOnce(t); b.Files[0].Bytes > 500_000 {
		t.Errorf("the example's adapter has %d bytes, want at most 500000", b.Files[0].Bytes)
	}
}

func BenchmarkBuildExample(b *testing.B) {
	dir := buildFreshExample(b)
	for b.Loop() {
		buildPlugin(b, dir)
	}
}

func TestBuildWithOutKeepsPluginFolder(t *testing.T) {
	dir, outDir := buildFreshExample(t), filepath.Join(t.TempDir(), "not", "there")
	buildResult, err := BuildPlugin(context.Background(), dir, Options{Extract: childArgs, ExtractTimeout: longTimeout, Out: outDir})
	if err != nil {
		t.Fatal(err)
	}
	if got := buildResult.Files[0].Path; got != filepath.Join(outDir, bundleFileName) {
		t.Errorf("path of the adapter = %s, want a file in the directory Out", got)
	}
	if _, err := os.Stat(filepath.Join(dir, outputDir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the build wrote dist in the plugin's directory: %v; want the error %v", err, fs.ErrNotExist)
	}
}
