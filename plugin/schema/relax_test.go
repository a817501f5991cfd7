package schema

import (
	"testing"

	"opentabs/internal/bytefind"
)

func TestRelaxDefaults(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"order and bytes of other members stay unchanged",
			`{"type":"object","properties":{"z":{"type":"number","default":1.50},"a":{"type":"string"}},"required":["z","a"]}`,
			`{"type":"object","properties":{"z":{"type":"number","default":1.50},"a":{"type":"string"}},"required":["a"]}`},
		{"a default of null counts as a default",
			`{"properties":{"a":{"default":null}},"required":["a"]}`,
			`{"properties":{"a":{"default":null}}}`},
		{"nested, in lists and unions",
			`{"properties":{"o":{"items":{"anyOf":[{"properties":{"x":{"default":1}},"required":["x","y"]}]}}},"required":["o"]}`,
			`{"properties":{"o":{"items":{"anyOf":[{"properties":{"x":{"default":1}},"required":["y"]}]}}},"required":["o"]}`},
		{"property with a reference to its schema",
			`{"$defs":{"a/b":{"default":1}},"properties":{"r":{"$ref":"#/$defs/a~1b"}},"required":["r"]}`,
			`{"$defs":{"a/b":{"default":1}},"properties":{"r":{"$ref":"#/$defs/a~1b"}}}`},
		{"properties in definitions",
			`{"$defs":{"d":{"properties":{"x":{"default":1}},"required":["x"]}}}`,
			`{"$defs":{"d":{"properties":{"x":{"default":1}}}}}`},
		{"properties with the names of keywords",
			`{"properties":{"required":{"type":"array"},"default":{"type":"string"}},"required":["required","default"]}`,
			`{"properties":{"required":{"type":"array"},"default":{"type":"string"}},"required":["required","default"]}`},
		{"values that resemble schemas stay unchanged",
			`{"properties":{"a":{"default":{"properties":{"x":{"default":1}},"required":["x"]}}},"required":[]}`,
			`{"properties":{"a":{"default":{"properties":{"x":{"default":1}},"required":["x"]}}}}`},
		{"circular references",
			`{"$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"r":{"$ref":"#/$defs/a"},"d":{"default":1}},"required":["r","d"]}`,
			`{"$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"r":{"$ref":"#/$defs/a"},"d":{"default":1}},"required":["r"]}`},
		{"the last of two properties with the same name applies",
			`{"properties":{"a":{"default":1},"a":{},"b":{},"b":{"default":1}},"required":["a","b"]}`,
			`{"properties":{"a":{"default":1},"a":{},"b":{},"b":{"default":1}},"required":["a"]}`},
		{"invalid schemas stay unchanged",
			`{"properties":[{"default":1}],"required":"x","items":7,"allOf":{"a":1}}`,
			`{"properties":[{"default":1}],"required":"x","items":7,"allOf":{"a":1}}`},
	} {
		if got := string(RelaxDefaults([]byte(c.schema))); got != c.want {
			t.Errorf("%s: RelaxDefaults =\n%s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestKeySearchUsesRarestByte(t *testing.T) {
	for n, rareByte := range map[*bytefind.Needle]byte{&defaultKey: 'f', &requiredKey: 'q', &refKeyNeedle: '$'} {
		if n.Text[n.RareByteIndex] != rareByte {
			t.Errorf("rare letter of the search text %q = %c, want %c", n.Text, n.Text[n.RareByteIndex], rareByte)
		}
	}
}
