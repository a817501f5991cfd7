package statedoc

import (
	"encoding/json"
	"fmt"

	"opentabs/internal/rawjson"
)

const pluginsFileVersion = 1

// Object is a JSON object whose members are not decoded. Because the members are not
// decoded, an edit of an Object preserves members that this version of opentabs does not
// use.
type Object map[string]json.RawMessage

// Child decodes the JSON object that is the value of the member key. If the member is
// missing or not an object, Child returns an empty object.
func (o Object) Child(key string) Object {
	var child Object
	if json.Unmarshal(o[key], &child) != nil || child == nil {
		child = Object{}
	}
	return child
}

// Put sets a member of the object, or deletes the member if v is an empty string, an empty
// object or null.
func (o Object) Put(key string, v any) {
	encodedValue := rawjson.Encode(v)
	switch string(encodedValue) {
	case `""`, "{}", "null":
		delete(o, key)
	default:
		o[key] = encodedValue
	}
}

// Plugins is the content of a state file that has one JSON object for each plugin.
type Plugins struct{ TopLevel Object }

// NewPlugins returns the content of a new state file that contains no plugins yet.
func NewPlugins() *Plugins {
	return &Plugins{TopLevel: Object{"version": rawjson.Encode(pluginsFileVersion)}}
}

// ParsePlugins parses a state file with one JSON object per plugin. For damaged text,
// ParsePlugins returns a *[DamagedError]. For the file of a newer opentabs version,
// ParsePlugins returns an error of another type.
func ParsePlugins(documentText []byte) (*Plugins, error) {
	topLevel, err := ParseTopLevel(documentText, pluginsFileVersion)
	if err != nil {
		return nil, err
	}
	if rawJSON, ok := topLevel["plugins"]; ok && rawjson.KindOf(rawJSON) != rawjson.KindObject {
		return nil, &DamagedError{"has plugins that are " + rawjson.KindOf(rawJSON) + " instead of an object"}
	}
	return &Plugins{topLevel}, nil
}

// ParseTopLevel parses a state file that is a JSON object with the member "version". For
// damaged text, ParseTopLevel returns a *[DamagedError]. For a version above maxVersion,
// ParseTopLevel returns an error of another type.
func ParseTopLevel(documentText []byte, maxVersion int) (Object, error) {
	var topLevel Object
	documentText = rawjson.TrimBOM(documentText)
	if err := json.Unmarshal(documentText, &topLevel); err != nil && !json.Valid(documentText) {
		return nil, &DamagedError{rawjson.DescribeSyntaxError(documentText, err)}
	}
	if topLevel == nil {
		return nil, &DamagedError{"is " + rawjson.KindOf(documentText) + " instead of an object"}
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

// Encode returns the content of the state file as indented JSON.
func (p *Plugins) Encode() []byte {
	return rawjson.Indent(rawjson.Encode(p.TopLevel))
}

// EditPlugin finds the JSON object of one plugin, and calls change to modify this object.
// If the plugin's object is empty after the change, EditPlugin deletes the object.
func (p *Plugins) EditPlugin(name string, change func(entry Object)) {
	plugins := p.TopLevel.Child("plugins")
	entry := plugins.Child(name)
	change(entry)
	plugins.Put(name, entry)
	p.TopLevel.Put("plugins", plugins)
}

// DecodeInto decodes rawJSON into v and reports whether the types match.
func DecodeInto(rawJSON json.RawMessage, v any) bool { return json.Unmarshal(rawJSON, v) == nil }
