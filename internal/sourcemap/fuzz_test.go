package sourcemap

import (
	"strings"
	"testing"
)

// The functions of package sourcemap must not panic, and must not return a position in node_modules.
func FuzzFind(f *testing.F) {
	f.Add([]byte(`{"version":3,"sources":["../src/a.ts"],"mappings":"AAAA,SAASA;AACT,gBAAkB"}`), 1, 3)
	f.Add([]byte(`{"sources":[],"mappings":"CCCC"}`), 0, 0)
	f.Add([]byte(`{"sources":["a"],"mappings":"ggggggggggggggggC"}`), 0, 0)
	f.Add([]byte(`{"sources":["x:y"],"mappings":";;AAAA"}`), 2, -1)
	f.Fuzz(func(t *testing.T, sourceMap []byte, line, column int) {
		m, err := Parse(sourceMap)
		if err != nil {
			return
		}
		position, ok := m.Find(line, column)
		if ok && (position.Line < 1 || strings.Contains(position.File, "node_modules/")) {
			t.Fatalf("Find in the source map %s returned the position %v, want a line from 1 and no file in node_modules", sourceMap, position)
		}
		if _, err := m.MoveLines(func(line int) int { return line / 2 }).Encode(); err != nil {
			t.Fatal(err)
		}
	})
}
