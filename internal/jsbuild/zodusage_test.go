package jsbuild

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestFindZodUsage(t *testing.T) {
	for name, testCase := range map[string]struct {
		pluginDir, names string
		isIncomplete     bool
	}{
		"an object":             {`import { z } from 'zod'; export default z.object({ a: z.string(), z: 1, b: "z" }).z;`, "object string", false},
		"another name":          {`import { z as zod } from 'zod/v4'; export default zod.int();`, "int", false},
		"the default export":    {`import zod, { string } from 'zod'; export default [zod.int(), string()];`, "int", false},
		"the namespace":         {`import * as z from 'zod'; export default z.int();`, "", false},
		"two files":             {`import { z } from 'zod'; import { a } from './a.ts'; export default [z.int(), a];`, "boolean int", false},
		"types only":            {`import { z } from 'zod'; export default 1 as z.infer<never>;`, "", false},
		"an argument":           {`import { z } from 'zod'; export default Object.keys(z);`, "", true},
		"a name that is not it": {`import { zodd } from './a.ts'; export default zodd.x;`, "boolean", false},
		"a dynamic import":      {`export default import('zod');`, "", true},
		"an error":              {`export default = 1;`, "", true},
	} {
		dir := writeFiles(t, map[string]string{
			packageFile:    validPackage,
			"src/index.ts": testCase.pluginDir,
			"src/a.ts":     `import { z } from 'zod'; export const a = z.boolean(); export const zodd = { x: 1 };`,
		})
		usage := findZodUsage(pluginSource{Dir: dir, Entry: "src/index.ts"})
		if got := strings.Join(usage.names, " "); usage.isComplete == testCase.isIncomplete || usage.isComplete && got != testCase.names {
			t.Errorf("%s: used names of zod = %q, complete = %v; want %q, complete = %v", name, got, usage.isComplete, testCase.names, !testCase.isIncomplete)
		}
	}
}

func TestAdaptersAreSmall(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../sdk-ts/examples/messages")); err != nil {
		t.Fatal(err)
	}
	b := buildPlugin(t, dir)
	const maxBytes = 150 << 10
	if b.Files[0].Bytes > maxBytes {
		t.Errorf("the adapter has %d bytes, want at most %d", b.Files[0].Bytes, maxBytes)
	}
	code := string(readFileIn(t, dir, "dist/"+bundleFileName))
	if !strings.Contains(code, "\n  // src/tools/export-messages.ts\n  var exportMessages = defineTool({\n    name: \"export_messages\",\n") {
		t.Error("the adapter lacks the unchanged text of the author's module export-messages.ts, want it readable")
	}
	if strings.Contains(code, "\n    inst._zod") {
		t.Error("the adapter contains zod with its line breaks, want minified code")
	}
	for _, file := range []string{sourceMapName, bundleFileName} {
		if strings.Contains(string(readFileIn(t, dir, "dist/"+file)), dir) {
			t.Errorf("%s contains the path of the build directory, want only relative paths", file)
		}
	}
	var sourceMap struct{ Sources []string }
	if err := json.Unmarshal(readFileIn(t, dir, "dist/"+sourceMapName), &sourceMap); err != nil {
		t.Fatal(err)
	}
	isOwn := func(pluginDir string) bool { return strings.HasPrefix(pluginDir, "../src/") }
	if len(sourceMap.Sources) < 6 || slices.ContainsFunc(sourceMap.Sources, func(pluginDir string) bool { return !isOwn(pluginDir) && pluginDir != "../"+entryFile }) {
		t.Errorf("sources of the adapter's source map = %q, want the author's modules", sourceMap.Sources)
	}
}
