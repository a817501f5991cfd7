package setup

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlEdit is an edit that replaces the bytes from startIndex to endIndex of a TOML file with
// document.
type tomlEdit struct {
	startIndex, endIndex int
	document             string
}

// tomlServer edits the values of the opentabs entry in a TOML file in place. tomlServer keeps comments and the order of
// keys. All key paths in a tomlServer are relative to the entry of opentabs.
type tomlServer struct {
	configBytes     []byte
	serverTablePath []string
	mergedFields    map[string]any
	pendingEdits    []tomlEdit
	// insertOffsets maps the dotted path of each table to the offset at which new keys are inserted.
	insertOffsets map[string]int
	// inlinePaths are the dotted paths of inline tables, which are written in braces.
	inlinePaths []string
}

// The result ok is false if editTOMLServer does not support the layout of the file.
func editTOMLServer(f tomlFormat, configBytes []byte, serversPath []string, existingFields, mergedFields map[string]any) (contentAfter []byte, ok bool) {
	if len(configBytes) > 0 && configBytes[len(configBytes)-1] != '\n' {
		configBytes = append(slices.Clone(configBytes), '\n')
	}
	s := &tomlServer{configBytes: configBytes, serverTablePath: append(slices.Clone(serversPath), serverName), mergedFields: mergedFields, insertOffsets: map[string]int{}}
	parser := unstable.Parser{}
	parser.Reset(configBytes)
	var table []string
	for parser.NextExpression() {
		switch e := parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			var lastNode *unstable.Node
			table, lastNode = tomlKeys(e)
			if path, isOwn := s.pathInServerEntry(table); isOwn {
				s.insertOffsets[path] = s.lineEnd(nodeEnd(lastNode))
			}
		case unstable.KeyValue:
			s.editField(e, table, existingFields)
		}
	}
	if parser.Error() != nil || !s.insertMissingFields(nil, existingFields, mergedFields) {
		return nil, false
	}
	slices.SortStableFunc(s.pendingEdits, func(a, b tomlEdit) int { return a.startIndex - b.startIndex })
	contentAfter = slices.Clone(configBytes)
	for _, e := range slices.Backward(s.pendingEdits) {
		contentAfter = slices.Replace(contentAfter, e.startIndex, e.endIndex, []byte(e.document)...)
	}
	configValues, err := f.decode(contentAfter)
	return contentAfter, err == nil && reflect.DeepEqual(findServer(configValues, serversPath), any(mergedFields))
}

func removeTOMLFields(configBytes []byte, serversPath []string) []byte {
	s := &tomlServer{configBytes: configBytes, serverTablePath: append(slices.Clone(serversPath), serverName)}
	parser := unstable.Parser{}
	parser.Reset(configBytes)
	var table []string
	var remainingContent []byte
	copiedUntil := 0
	for parser.NextExpression() {
		e := parser.Expression()
		if e.Kind != unstable.KeyValue {
			table, _ = tomlKeys(e)
			continue
		}
		keys, _ := tomlKeys(e)
		if _, isOwn := s.pathInServerEntry(append(slices.Clone(table), keys...)); isOwn {
			remainingContent = append(remainingContent, configBytes[copiedUntil:s.lineStart(int(e.Raw.Offset))]...)
			copiedUntil = s.lineEnd(nodeEnd(e))
		}
	}
	return append(remainingContent, configBytes[copiedUntil:]...)
}

func (s *tomlServer) pathInServerEntry(path []string) (dottedPath string, isOwn bool) {
	if len(path) < len(s.serverTablePath) || !slices.Equal(path[:len(s.serverTablePath)], s.serverTablePath) {
		return "", false
	}
	return strings.Join(path[len(s.serverTablePath):], "."), true
}

func (s *tomlServer) editField(field *unstable.Node, table []string, existingFields map[string]any) {
	keys, lastNode := tomlKeys(field)
	path := append(slices.Clone(table), keys...)
	isInline := field.Value().Kind == unstable.InlineTable
	dottedPath, isOwn := s.pathInServerEntry(path)
	if !isOwn && isInline {
		for children := field.Value().Children(); children.Next(); {
			if childNode := children.Node(); childNode.Kind == unstable.KeyValue {
				s.editField(childNode, path, existingFields)
			}
		}
	}
	if !isOwn {
		return
	}
	startIndex, endIndex := int(field.Raw.Offset), nodeEnd(field)
	if tablePath, ok := s.pathInServerEntry(table); ok {
		s.insertOffsets[tablePath] = s.lineEnd(endIndex)
	}
	if isInline {
		s.inlinePaths = append(s.inlinePaths, dottedPath)
	}
	valueBefore, _ := findValue(existingFields, dottedPath)
	value, isKept := findValue(s.mergedFields, dottedPath)
	object, isObject := value.(map[string]any)
	switch {
	case !isKept:
		s.pendingEdits = append(s.pendingEdits, tomlEdit{s.lineStart(startIndex), s.lineEnd(endIndex), ""})
	case reflect.DeepEqual(valueBefore, value):
	case isInline && isObject:
		s.pendingEdits = append(s.pendingEdits, tomlEdit{s.valueStart(lastNode), endIndex, s.mergeInlineTable(field.Value(), valueBefore, object)})
	default:
		s.pendingEdits = append(s.pendingEdits, tomlEdit{s.valueStart(lastNode), endIndex, tomlValue(value)})
	}
}

// Keys of an inline TOML table keep their order, and unchanged values keep their text.
func (s *tomlServer) mergeInlineTable(node *unstable.Node, existingFields any, mergedFields map[string]any) string {
	var members []string
	oldFields, _ := existingFields.(map[string]any)
	isDone := map[string]bool{}
	for children := node.Children(); children.Next(); {
		childNode := children.Node()
		if childNode.Kind != unstable.KeyValue {
			continue
		}
		keys, lastNode := tomlKeys(childNode)
		name := strings.Join(keys, ".")
		value, isKept := findValue(mergedFields, name)
		valueBefore, _ := findValue(oldFields, name)
		key := string(s.configBytes[childNode.Raw.Offset:s.valueStart(lastNode)])
		isDone[keys[0]] = true
		switch object, isObject := value.(map[string]any); {
		case !isKept:
		case reflect.DeepEqual(valueBefore, value):
			members = append(members, string(s.configBytes[childNode.Raw.Offset:nodeEnd(childNode)]))
		case isObject && childNode.Value().Kind == unstable.InlineTable:
			members = append(members, key+s.mergeInlineTable(childNode.Value(), valueBefore, object))
		default:
			members = append(members, key+tomlValue(value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(mergedFields)) {
		if !isDone[name] {
			members = append(members, tomlLine(name, mergedFields[name]))
		}
	}
	return "{ " + strings.Join(members, ", ") + " }"
}

// path lists the keys below the server opentabs. insertMissingFields returns false if the file has no table at path.
func (s *tomlServer) insertMissingFields(path []string, existingFields, mergedFields map[string]any) bool {
	dottedPath := strings.Join(path, ".")
	if slices.ContainsFunc(s.inlinePaths, func(inlinePath string) bool {
		return inlinePath == "" || inlinePath == dottedPath || strings.HasPrefix(dottedPath, inlinePath+".")
	}) {
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(mergedFields)) {
		object, isObject := mergedFields[name].(map[string]any)
		childPath := append(slices.Clone(path), name)
		if oldFields, hasOldValue := existingFields[name]; hasOldValue {
			oldObject, isOldObject := oldFields.(map[string]any)
			if isObject && isOldObject && !s.insertMissingFields(childPath, oldObject, object) {
				return false
			}
			continue
		}
		at, ok := s.insertOffsets[dottedPath]
		if !ok {
			return false
		}
		newEntryText := tomlLine(name, mergedFields[name]) + "\n"
		if isObject {
			newEntryText = "\n[" + strings.Join(append(slices.Clone(s.serverTablePath), childPath...), ".") + "]\n"
			for _, child := range slices.Sorted(maps.Keys(object)) {
				newEntryText += tomlLine(child, object[child]) + "\n"
			}
		}
		s.pendingEdits = append(s.pendingEdits, tomlEdit{at, at, newEntryText})
	}
	return true
}

func (s *tomlServer) valueStart(key *unstable.Node) int {
	at := nodeEnd(key) + bytes.IndexByte(s.configBytes[nodeEnd(key):], '=') + 1
	return at + len(s.configBytes[at:]) - len(bytes.TrimLeft(s.configBytes[at:], " \t"))
}

func (s *tomlServer) lineStart(offset int) int {
	return bytes.LastIndexByte(s.configBytes[:offset], '\n') + 1
}

func (s *tomlServer) lineEnd(offset int) int {
	if i := bytes.IndexByte(s.configBytes[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(s.configBytes)
}

func tomlKeys(node *unstable.Node) (names []string, lastNode *unstable.Node) {
	for keys := node.Key(); keys.Next(); {
		lastNode = keys.Node()
		names = append(names, string(lastNode.Data))
	}
	return names, lastNode
}

func nodeEnd(node *unstable.Node) int { return int(node.Raw.Offset + node.Raw.Length) }

func findValue(configValues map[string]any, dottedPath string) (value any, ok bool) {
	value = configValues
	if dottedPath == "" {
		return value, true
	}
	for name := range strings.SplitSeq(dottedPath, ".") {
		object, isObject := value.(map[string]any)
		if value, ok = object[name]; !isObject || !ok {
			return nil, false
		}
	}
	return value, true
}

func tomlLine(name string, value any) string {
	var line bytes.Buffer
	if err := toml.NewEncoder(&line).SetTablesInline(true).Encode(map[string]any{name: value}); err != nil {
		return "" // the function checkServerAdded rejects an edit with this empty line
	}
	return strings.TrimSpace(line.String())
}

func tomlValue(value any) string { return strings.TrimPrefix(tomlLine("x", value), "x = ") }
