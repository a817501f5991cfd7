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

// The type format edits the text of configuration files in one syntax, such as JSON. The methods setServer and
// removeServer change only the opentabs entry and keep the rest of the text unchanged. The text that a format edits
// has no byte order mark, and all lines end with a line feed (see [editNormalizedText]).
type format interface {
	// setServer returns the configuration in configBytes, with an opentabs entry that has the fields of entry. If
	// configBytes already has an opentabs entry, setServer keeps the entry's other fields.
	setServer(configBytes []byte, serversPath []string, entry any) ([]byte, error)
	removeServer(configBytes []byte, serversPath []string) ([]byte, error)
	inlineEntry(entry any) ([]byte, error)
	decode(configBytes []byte) (map[string]any, error)
}

// errUnsupportedLayout reports that an edit would change more than the opentabs entry. The text
// of errUnsupportedLayout becomes a clause in the message of a [FileError].
var errUnsupportedLayout = errors.New("its layout does not allow a change of only the server opentabs")

// errNotObject reports that the top level of a configuration file is not an object, but
// for example a list. The text of errNotObject becomes a clause in the message of a
// [FileError].
var errNotObject = errors.New("the file is not an object in braces, such as {}")

func checkOnlyServerChanged(f format, contentBefore, contentAfter []byte, serversPath []string) ([]byte, error) {
	oldConfig, err := f.decode(contentBefore)
	if err != nil {
		return nil, err
	}
	changedConfig, err := f.decode(contentAfter)
	if err != nil {
		return nil, errUnsupportedLayout
	}
	if !reflect.DeepEqual(removeServerEntry(oldConfig, serversPath), removeServerEntry(changedConfig, serversPath)) {
		return nil, errUnsupportedLayout
	}
	return contentAfter, nil
}

func checkServerAdded(f format, contentBefore, contentAfter []byte, serversPath []string) ([]byte, error) {
	contentAfter, err := checkOnlyServerChanged(f, contentBefore, contentAfter, serversPath)
	if err != nil {
		return nil, err
	}
	if configValues, err := f.decode(contentAfter); err != nil || findServer(configValues, serversPath) == nil {
		return nil, errUnsupportedLayout
	}
	return contentAfter, nil
}

// editNormalizedText removes a byte order mark and Windows line endings before the change, and restores them in the result.
func editNormalizedText(configBytes []byte, change func(configText []byte) ([]byte, error)) ([]byte, error) {
	withoutBOM, hasBOM := bytes.CutPrefix(configBytes, byteOrderMark)
	lineEndCount := bytes.Count(withoutBOM, []byte("\r\n"))
	isCRLF := lineEndCount > 0 && lineEndCount == bytes.Count(withoutBOM, []byte("\n"))
	if isCRLF {
		withoutBOM = bytes.ReplaceAll(withoutBOM, []byte("\r\n"), []byte("\n"))
	}
	changedConfig, err := change(withoutBOM)
	if err != nil {
		return nil, err
	}
	if isCRLF {
		changedConfig = bytes.ReplaceAll(changedConfig, []byte("\n"), []byte("\r\n"))
	}
	if hasBOM {
		changedConfig = append(byteOrderMark[:len(byteOrderMark):len(byteOrderMark)], changedConfig...)
	}
	return changedConfig, nil
}

// findCommandServer returns nil for an opentabs entry that connects over HTTP, because its fields do not apply to a
// command.
func findCommandServer(f format, configBytes []byte, serversPath []string) map[string]any {
	configValues, err := f.decode(configBytes)
	if err != nil {
		return nil
	}
	fields, _ := findServer(configValues, serversPath).(map[string]any)
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
func mergeFields(existingFields, entry map[string]any) map[string]any {
	mergedFields := maps.Clone(existingFields)
	delete(mergedFields, homeVariable)
	for name, value := range entry {
		oldFields, hasOldValue := existingFields[name].(map[string]any)
		object, isObject := value.(map[string]any)
		switch {
		case hasOldValue && isObject:
			mergedFields[name] = mergeFields(oldFields, object)
		case name == fieldTimeout && existingFields[name] != nil:
		default:
			mergedFields[name] = value
		}
	}
	return mergedFields
}

// If the object contains no other MCP server than opentabs, removeServerEntry removes the object too.
func removeServerEntry(configValues map[string]any, serversPath []string) map[string]any {
	if configValues == nil {
		configValues = map[string]any{}
	}
	if len(serversPath) == 0 {
		delete(configValues, serverName)
		return configValues
	}
	if childFields, ok := configValues[serversPath[0]].(map[string]any); ok {
		if childFields = removeServerEntry(childFields, serversPath[1:]); len(childFields) == 0 {
			delete(configValues, serversPath[0])
		}
	} else if configValues[serversPath[0]] == nil {
		delete(configValues, serversPath[0])
	}
	return configValues
}

func findServer(configValues map[string]any, serversPath []string) any {
	for _, name := range serversPath {
		configValues, _ = configValues[name].(map[string]any)
	}
	return configValues[serverName]
}

// byteOrderMark is the UTF-8 byte order mark that some Windows editors write at the
// beginning of a file.
var byteOrderMark = []byte("\ufeff")

// jsonFormat edits configuration files in JSON, with or without comments and trailing
// commas.
type jsonFormat struct{}

func (f jsonFormat) setServer(configBytes []byte, serversPath []string, entry any) ([]byte, error) {
	if _, err := f.decode(configBytes); err != nil {
		return nil, err
	}
	value, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	contentAfter, err := setMember(configBytes, append(serversPath[:len(serversPath):len(serversPath)], serverName), value, findCommandServer(f, configBytes, serversPath))
	if err != nil {
		return nil, err
	}
	return checkServerAdded(f, configBytes, contentAfter, serversPath)
}

// If value and the existing member are both objects, setMember changes only the members that value contains.
func setMember(configBytes []byte, path []string, valueJSON json.RawMessage, existingFields map[string]any) ([]byte, error) {
	var members map[string]json.RawMessage
	if existingFields == nil || json.Unmarshal(valueJSON, &members) != nil {
		return jsonedit.Set(configBytes, path, valueJSON)
	}
	var err error
	if _, hasHome := existingFields[homeVariable]; hasHome && members[homeVariable] == nil {
		if configBytes, _, err = jsonedit.Remove(configBytes, append(path[:len(path):len(path)], homeVariable)); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		childFields, _ := existingFields[name].(map[string]any)
		if configBytes, err = setMember(configBytes, append(path[:len(path):len(path)], name), members[name], childFields); err != nil {
			return nil, err
		}
	}
	return configBytes, nil
}

func (jsonFormat) inlineEntry(entry any) ([]byte, error) {
	value, err := json.Marshal(entry)
	return fmt.Appendf(nil, "%q: %s", serverName, value), err
}

func (f jsonFormat) removeServer(configBytes []byte, serversPath []string) ([]byte, error) {
	if _, err := f.decode(configBytes); err != nil {
		return nil, err
	}
	contentAfter, _, err := jsonedit.Remove(configBytes, append(serversPath[:len(serversPath):len(serversPath)], serverName))
	if err != nil {
		return nil, err
	}
	return checkOnlyServerChanged(f, configBytes, contentAfter, serversPath)
}

func (jsonFormat) decode(configBytes []byte) (map[string]any, error) {
	standardJSON, err := jsonedit.StripComments(bytes.TrimPrefix(configBytes, byteOrderMark))
	if err != nil {
		return nil, newSyntaxError("JSON", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(standardJSON))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, newSyntaxError("JSON", err)
	}
	configValues, isObject := value.(map[string]any)
	if !isObject {
		return nil, errNotObject
	}
	return configValues, nil
}
