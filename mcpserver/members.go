package mcpserver

import (
	"bytes"
	"encoding/json"
)

// member is a member of a JSON object, with key and value as written.
type member struct {
	name  string // the key, decoded
	key   []byte
	value json.RawMessage
}

// membersOf splits a JSON object. It reports false for any other text.
func membersOf(object json.RawMessage) ([]member, bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var all []member
	for d.More() {
		before := d.InputOffset()
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, false
		}
		m := member{name: name, key: bytes.TrimLeft(object[before:d.InputOffset()], ", \t\r\n")}
		if d.Decode(&m.value) != nil {
			return nil, false
		}
		all = append(all, m)
	}
	_, err := d.Token() // the closing brace
	return all, err == nil
}

// joinMembers returns the object with these members.
func joinMembers(all []member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.key...), ':'), m.value...)
	}
	return append(out, '}')
}
