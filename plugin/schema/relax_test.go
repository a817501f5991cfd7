package schema

import (
	"testing"

	"opentabs/internal/bytefind"
)

func TestRelaxDefaults(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"keeps order and bytes",
			`{"type":"object","properties":{"z":{"type":"number","default":1.50},"a":{"type":"string"}},"required":["z","a"]}`,
			`{"type":"object","properties":{"z":{"type":"number","default":1.50},"a":{"type":"string"}},"required":["a"]}`},
		{"null is a default",
			`{"properties":{"a":{"default":null}},"required":["a"]}`,
			`{"properties":{"a":{"default":null}}}`},
		{"nested, in lists and unions",
			`{"properties":{"o":{"items":{"anyOf":[{"properties":{"x":{"default":1}},"required":["x","y"]}]}}},"required":["o"]}`,
			`{"properties":{"o":{"items":{"anyOf":[{"properties":{"x":{"default":1}},"required":["y"]}]}}},"required":["o"]}`},
		{"behind a reference",
			`{"$defs":{"a/b":{"default":1}},"properties":{"r":{"$ref":"#/$defs/a~1b"}},"required":["r"]}`,
			`{"$defs":{"a/b":{"default":1}},"properties":{"r":{"$ref":"#/$defs/a~1b"}}}`},
		{"in definitions",
			`{"$defs":{"d":{"properties":{"x":{"default":1}},"required":["x"]}}}`,
			`{"$defs":{"d":{"properties":{"x":{"default":1}}}}}`},
		{"properties with the names of keywords",
			`{"properties":{"required":{"type":"array"},"default":{"type":"string"}},"required":["required","default"]}`,
			`{"properties":{"required":{"type":"array"},"default":{"type":"string"}},"required":["required","default"]}`},
		{"values are no schemas",
			`{"properties":{"a":{"default":{"properties":{"x":{"default":1}},"required":["x"]}}},"required":[]}`,
			`{"properties":{"a":{"default":{"properties":{"x":{"default":1}},"required":["x"]}}}}`},
		{"a circle of references",
			`{"$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"r":{"$ref":"#/$defs/a"},"d":{"default":1}},"required":["r","d"]}`,
			`{"$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"r":{"$ref":"#/$defs/a"},"d":{"default":1}},"required":["r"]}`},
		{"of two properties with one name the last counts",
			`{"properties":{"a":{"default":1},"a":{},"b":{},"b":{"default":1}},"required":["a","b"]}`,
			`{"properties":{"a":{"default":1},"a":{},"b":{},"b":{"default":1}},"required":["a"]}`},
		{"nonsense stays",
			`{"properties":[{"default":1}],"required":"x","items":7,"allOf":{"a":1}}`,
			`{"properties":[{"default":1}],"required":"x","items":7,"allOf":{"a":1}}`},
	} {
		if got := string(RelaxDefaults([]byte(c.schema))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestKeysStartAtARareLetter(t *testing.T) {
	for n, letter := range map[*bytefind.Needle]byte{&defaultKey: 'f', &requiredKey: 'q', &refKey: '$'} {
		if n.Text[n.Rare] != letter {
			t.Errorf("the search for %q starts at %c, want %c", n.Text, n.Text[n.Rare], letter)
		}
	}
}
