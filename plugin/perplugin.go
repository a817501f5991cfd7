package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"

	"opentabs/internal/rawjson"
)

// perPluginVersion is the version of the format of files that hold something for each plugin.
const perPluginVersion = 1

// object is a JSON object whose members stay as they are unless they are put.
type object map[string]json.RawMessage

// objectIn returns the object that is a member, or an empty one.
func (o object) objectIn(key string) object {
	var child object
	if json.Unmarshal(o[key], &child) != nil || child == nil {
		child = object{}
	}
	return child
}

// put sets a member, or takes it away if v is empty: an empty text or object.
func (o object) put(key string, v any) {
	text := rawjson.Encode(v)
	switch string(text) {
	case `""`, "{}", "null":
		delete(o, key)
	default:
		o[key] = text
	}
}

// perPlugin is a state file that holds something for each plugin, as it is
// changed: its members, known or not.
type perPlugin struct{ top object }

func newPerPlugin() *perPlugin {
	return &perPlugin{top: object{"version": rawjson.Encode(perPluginVersion)}}
}

// parsePerPlugin reads such a file. The error is a *corruptError if the
// text is damaged, another one if a newer version wrote it.
func parsePerPlugin(text []byte) (*perPlugin, error) {
	p := &perPlugin{}
	text = rawjson.TrimBOM(text)
	if err := json.Unmarshal(text, &p.top); err != nil || p.top == nil {
		if err != nil && !json.Valid(text) {
			return nil, &corruptError{rawjson.SyntaxProblem(text, err)}
		}
		return nil, &corruptError{"is " + rawjson.KindOf(text) + " instead of an object"}
	}
	var version int
	if err := json.Unmarshal(p.top["version"], &version); err != nil || version < 1 {
		return nil, &corruptError{"has no version"}
	}
	if version > perPluginVersion {
		return nil, fmt.Errorf("has version %d, but this opentabs reads only version %d; update opentabs", version, perPluginVersion)
	}
	if raw, ok := p.top["plugins"]; ok && rawjson.KindOf(raw) != rawjson.KindObject {
		return nil, &corruptError{"has plugins that are " + rawjson.KindOf(raw) + " instead of an object"}
	}
	return p, nil
}

// encode returns the file's text, indented for people.
func (p *perPlugin) encode() []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, rawjson.Encode(p.top), "", "  "); err != nil {
		panic("plugin: " + err.Error()) // what was just encoded is valid
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// edit changes what is said of one plugin. An entry that becomes empty goes.
func (p *perPlugin) edit(name string, change func(entry object)) {
	plugins := p.top.objectIn("plugins")
	entry := plugins.objectIn(name)
	change(entry)
	plugins.put(name, entry)
	p.top.put("plugins", plugins)
}
