package plugin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

// largePackage is as large as those of the known plugins are on average: an
// adapter of 0.7 MB and 20 tools with 3 KB of schemas each.
func largePackage(i int) plugintest.Package {
	properties := map[string]any{}
	for n := range 12 {
		properties[fmt.Sprintf("field%d", n)] = map[string]any{"type": "string", "description": strings.Repeat("what this field is for ", 4)}
	}
	properties["limit"] = map[string]any{"type": "integer", "minimum": 1, "maximum": 100, "default": 20}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": []string{"field0", "limit"}, "additionalProperties": false,
	})
	if err != nil {
		panic(err)
	}
	p := plugintest.Package{Name: fmt.Sprintf("site-%03d", i)}
	for n := range 20 {
		p.Tools = append(p.Tools, plugintest.Tool{
			Name: fmt.Sprintf("tool_%d", n), Description: "Does something on the site.", Input: schema, Output: schema,
		})
	}
	p.Code = strings.Repeat("var code = function (a, b) { return a + b } // filler\n", 700<<10/54)
	return p
}

// BenchmarkReload loads 120 plugins of 0.7 MB, as a starting server does. The
// bar is 250 ms on 2 cores.
func BenchmarkReload(b *testing.B) {
	_, store := plugintest.Registry(b, largePackages(120)...)
	b.ReportAllocs()
	for b.Loop() {
		r := plugin.NewRegistry(store, zerolog.Nop())
		if err := r.Reload(); err != nil {
			b.Fatal(err)
		}
		if n := len(r.Set().Plugins()); n != 120 {
			b.Fatalf("%d plugins, failed: %v", n, r.Set().Failed())
		}
	}
}

func largePackages(n int) []plugintest.Package {
	packages := make([]plugintest.Package, n)
	for i := range packages {
		packages[i] = largePackage(i)
	}
	return packages
}
