package statedoc

import (
	"encoding/json"
	"fmt"

	"opentabs/internal/rawjson"
)

// perPluginVersion is the version of the file format of [Plugins].
const perPluginVersion = 1

// Object is a JSON object that keeps members which opentabs does not know.
type Object map[string]json.RawMessage

// Child returns the object in a member, or an empty object.
func (o Object) Child(key string) Object {
	var child Object
	if json.Unmarshal(o[key], &child) != nil || child == nil {
		child = Object{}
	}
	return child
}

// Put sets a member of the object. Put deletes the member if the new value is an empty
// text, an empty object or null.
func (o Object) Put(key string, v any) {
	text := rawjson.Encode(v)
	switch string(text) {
	case `""`, "{}", "null":
		delete(o, key)
	default:
		o[key] = text
	}
}

// Plugins is the content of a state file with one object for each plugin.
type Plugins struct{ TopLevel Object }

// NewPlugins returns the content of a new state file without plugins.
func NewPlugins() *Plugins {
	return &Plugins{TopLevel: Object{"version": rawjson.Encode(perPluginVersion)}}
}

// ParsePlugins parses a state file with one object for each plugin. The error is a
// *[DamagedError] if the text is damaged, and another error if a newer version of
// opentabs wrote the file.
func ParsePlugins(text []byte) (*Plugins, error) {
	topLevel, err := ParseTopLevel(text, perPluginVersion)
	if err != nil {
		return nil, err
	}
	if raw, ok := topLevel["plugins"]; ok && rawjson.KindOf(raw) != rawjson.KindObject {
		return nil, &DamagedError{"has plugins that are " + rawjson.KindOf(raw) + " instead of an object"}
	}
	return &Plugins{topLevel}, nil
}

// ParseTopLevel parses the JSON object of a state file with a format version. The error
// is a *[DamagedError] if the text is damaged, and another error if the file has a newer
// version than maxVersion.
func ParseTopLevel(text []byte, maxVersion int) (Object, error) {
	var topLevel Object
	text = rawjson.TrimBOM(text)
	if err := json.Unmarshal(text, &topLevel); err != nil && !json.Valid(text) {
		return nil, &DamagedError{rawjson.SyntaxProblem(text, err)}
	}
	if topLevel == nil {
		return nil, &DamagedError{"is " + rawjson.KindOf(text) + " instead of an object"}
	}
	var version int
	if err := json.Unmarshal(topLevel["version"], &version); err != nil || version < 1 {
		return nil, &DamagedError{"has no version"}
	}
	if version > maxVersion {
		return nil, fmt.Errorf("has version %d, but this opentabs reads only version %d; update opentabs", version, maxVersion)
	}
	return topLevel, nil
}

// Encode returns the indented text of the file.
func (p *Plugins) Encode() []byte {
	return rawjson.Indent(rawjson.Encode(p.TopLevel))
}

// EditPlugin changes the object of one plugin. EditPlugin deletes the object of a plugin if the
// object becomes empty.
func (p *Plugins) EditPlugin(name string, change func(entry Object)) {
	plugins := p.TopLevel.Child("plugins")
	entry := plugins.Child(name)
	change(entry)
	plugins.Put(name, entry)
	p.TopLevel.Put("plugins", plugins)
}

// Decode decodes a member into v and reports whether the member has the type of v.
func Decode(raw json.RawMessage, v any) bool { return json.Unmarshal(raw, v) == nil }
