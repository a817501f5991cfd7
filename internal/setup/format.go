package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"opentabs/internal/jsonedit"
)

// The type format edits the text of configuration files in one syntax, such as JSON. The methods set and remove change
// only the opentabs entry and keep the rest of the text unchanged. The text that a format edits has no byte order
// mark, and all lines end with a line feed (see [editText]).
type format interface {
	// The method set returns the configuration in data, with an opentabs entry that has the fields of entry. If data
	// already has an opentabs entry, set keeps the entry's other fields.
	set(data []byte, servers []string, entry any) ([]byte, error)
	remove(data []byte, servers []string) ([]byte, error)
	inline(entry any) ([]byte, error)
	decode(data []byte) (map[string]any, error)
}

// errOtherChange reports that an edit would change more than the opentabs entry. The text
// of errOtherChange becomes a clause in the message of a [FileError].
var errOtherChange = errors.New("its layout does not allow a change of only the server opentabs")

// errNotObject reports that the top level of a configuration file is not an object, but
// for example a list. The text of errNotObject becomes a clause in the message of a
// [FileError].
var errNotObject = errors.New("the file is not an object in braces, such as {}")

func checkEdit(f format, before, after []byte, servers []string) ([]byte, error) {
	old, err := f.decode(before)
	if err != nil {
		return nil, err
	}
	changed, err := f.decode(after)
	if err != nil {
		return nil, errOtherChange
	}
	if !reflect.DeepEqual(withoutServer(old, servers), withoutServer(changed, servers)) {
		return nil, errOtherChange
	}
	return after, nil
}

func checkServerEdit(f format, before, after []byte, servers []string) ([]byte, error) {
	after, err := checkEdit(f, before, after, servers)
	if err != nil {
		return nil, err
	}
	if values, err := f.decode(after); err != nil || findServer(values, servers) == nil {
		return nil, errOtherChange
	}
	return after, nil
}

// editText removes a byte order mark and Windows line endings before the change, and restores them in the result.
func editText(data []byte, change func(text []byte) ([]byte, error)) ([]byte, error) {
	text, hasMark := bytes.CutPrefix(data, byteOrderMark)
	lineEndCount := bytes.Count(text, []byte("\r\n"))
	isCRLF := lineEndCount > 0 && lineEndCount == bytes.Count(text, []byte("\n"))
	if isCRLF {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	changed, err := change(text)
	if err != nil {
		return nil, err
	}
	if isCRLF {
		changed = bytes.ReplaceAll(changed, []byte("\n"), []byte("\r\n"))
	}
	if hasMark {
		changed = append(byteOrderMark[:len(byteOrderMark):len(byteOrderMark)], changed...)
	}
	return changed, nil
}

// findCommandServer returns nil for an opentabs entry that connects over HTTP, because its fields do not apply to a
// command.
func findCommandServer(f format, data []byte, servers []string) map[string]any {
	values, err := f.decode(data)
	if err != nil {
		return nil
	}
	fields, _ := findServer(values, servers).(map[string]any)
	if len(fields) == 0 || readCommand(fields).Path == "" {
		return nil
	}
	return fields
}

// fieldTimeout is the field of a configuration entry in which the user can set a longer
// timeout for calls than the client's default.
const fieldTimeout = "timeout"

// homeVariable is the environment variable that selects another installation of opentabs.
// Only setup writes OPENTABS_HOME to the configuration of an MCP client.
const homeVariable = "OPENTABS_HOME"

// mergeFields drops the variable homeVariable of the existing entry unless the new entry sets homeVariable too.
func mergeFields(existing, entry map[string]any) map[string]any {
	merged := maps.Clone(existing)
	delete(merged, homeVariable)
	for name, value := range entry {
		old, hasOld := existing[name].(map[string]any)
		object, isObject := value.(map[string]any)
		switch {
		case hasOld && isObject:
			merged[name] = mergeFields(old, object)
		case name == fieldTimeout && existing[name] != nil:
		default:
			merged[name] = value
		}
	}
	return merged
}

// If the object contains no other MCP server than opentabs, withoutServer removes the object too.
func withoutServer(values map[string]any, servers []string) map[string]any {
	if values == nil {
		values = map[string]any{}
	}
	if len(servers) == 0 {
		delete(values, serverName)
		return values
	}
	if child, ok := values[servers[0]].(map[string]any); ok {
		if child = withoutServer(child, servers[1:]); len(child) == 0 {
			delete(values, servers[0])
		}
	} else if values[servers[0]] == nil {
		delete(values, servers[0])
	}
	return values
}

func findServer(values map[string]any, servers []string) any {
	for _, name := range servers {
		values, _ = values[name].(map[string]any)
	}
	return values[serverName]
}

// byteOrderMark is the UTF-8 byte order mark that some Windows editors write at the
// beginning of a file.
var byteOrderMark = []byte("\ufeff")

// jsonFormat edits configuration files in JSON, with or without comments and trailing
// commas.
type jsonFormat struct{}

func (f jsonFormat) set(data []byte, servers []string, entry any) ([]byte, error) {
	if _, err := f.decode(data); err != nil {
		return nil, err
	}
	value, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	after, err := setMember(data, append(servers[:len(servers):len(servers)], serverName), value, findCommandServer(f, data, servers))
	if err != nil {
		return nil, err
	}
	return checkServerEdit(f, data, after, servers)
}

// If value and the existing member are both objects, setMember changes only the members that value contains.
func setMember(data []byte, path []string, value json.RawMessage, existing map[string]any) ([]byte, error) {
	var members map[string]json.RawMessage
	if existing == nil || json.Unmarshal(value, &members) != nil {
		return jsonedit.Set(data, path, value)
	}
	var err error
	if _, hasHome := existing[homeVariable]; hasHome && members[homeVariable] == nil {
		if data, _, err = jsonedit.Remove(data, append(path[:len(path):len(path)], homeVariable)); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		child, _ := existing[name].(map[string]any)
		if data, err = setMember(data, append(path[:len(path):len(path)], name), members[name], child); err != nil {
			return nil, err
		}
	}
	return data, nil
}

func (jsonFormat) inline(entry any) ([]byte, error) {
	value, err := json.Marshal(entry)
	return fmt.Appendf(nil, "%q: %s", serverName, value), err
}

func (f jsonFormat) remove(data []byte, servers []string) ([]byte, error) {
	if _, err := f.decode(data); err != nil {
		return nil, err
	}
	after, _, err := jsonedit.Remove(data, append(servers[:len(servers):len(servers)], serverName))
	if err != nil {
		return nil, err
	}
	return checkEdit(f, data, after, servers)
}

func (jsonFormat) decode(data []byte) (map[string]any, error) {
	standard, err := jsonedit.Standardize(bytes.TrimPrefix(data, byteOrderMark))
	if err != nil {
		return nil, newSyntaxError("JSON", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(standard))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, newSyntaxError("JSON", err)
	}
	values, isObject := value.(map[string]any)
	if !isObject {
		return nil, errNotObject
	}
	return values, nil
}
