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

// tomlEdit is an edit that replaces the bytes from start to end of a TOML file with text.
type tomlEdit struct {
	start, end int
	text       string
}

// tomlServer edits the values of the opentabs entry in a TOML file in place. tomlServer keeps comments and the order of
// keys. All key paths in a tomlServer are relative to the entry of opentabs.
type tomlServer struct {
	data   []byte
	own    []string
	merged map[string]any
	edits  []tomlEdit
	// insertAt maps the dotted path of each table to the offset at which new keys are inserted.
	insertAt map[string]int
	// inlinePaths are the dotted paths of inline tables, which are written in braces.
	inlinePaths []string
}

// The result ok is false if editTOMLServer does not support the layout of the file.
func editTOMLServer(f tomlFormat, data []byte, servers []string, existing, merged map[string]any) (after []byte, ok bool) {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(slices.Clone(data), '\n')
	}
	s := &tomlServer{data: data, own: append(slices.Clone(servers), serverName), merged: merged, insertAt: map[string]int{}}
	parser := unstable.Parser{}
	parser.Reset(data)
	var table []string
	for parser.NextExpression() {
		switch e := parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			var last *unstable.Node
			table, last = tomlKeys(e)
			if path, isOwn := s.pathWithinEntry(table); isOwn {
				s.insertAt[path] = s.lineEnd(endOf(last))
			}
		case unstable.KeyValue:
			s.editField(e, table, existing)
		}
	}
	if parser.Error() != nil || !s.insertMissing(nil, existing, merged) {
		return nil, false
	}
	slices.SortStableFunc(s.edits, func(a, b tomlEdit) int { return a.start - b.start })
	after = slices.Clone(data)
	for _, e := range slices.Backward(s.edits) {
		after = slices.Replace(after, e.start, e.end, []byte(e.text)...)
	}
	values, err := f.decode(after)
	return after, err == nil && reflect.DeepEqual(findServer(values, servers), any(merged))
}

func removeTOMLFields(data []byte, servers []string) []byte {
	s := &tomlServer{data: data, own: append(slices.Clone(servers), serverName)}
	parser := unstable.Parser{}
	parser.Reset(data)
	var table []string
	var kept []byte
	keptUntil := 0
	for parser.NextExpression() {
		e := parser.Expression()
		if e.Kind != unstable.KeyValue {
			table, _ = tomlKeys(e)
			continue
		}
		keys, _ := tomlKeys(e)
		if _, isOwn := s.pathWithinEntry(append(slices.Clone(table), keys...)); isOwn {
			kept = append(kept, data[keptUntil:s.lineStart(int(e.Raw.Offset))]...)
			keptUntil = s.lineEnd(endOf(e))
		}
	}
	return append(kept, data[keptUntil:]...)
}

func (s *tomlServer) pathWithinEntry(path []string) (dotted string, isOwn bool) {
	if len(path) < len(s.own) || !slices.Equal(path[:len(s.own)], s.own) {
		return "", false
	}
	return strings.Join(path[len(s.own):], "."), true
}

func (s *tomlServer) editField(field *unstable.Node, table []string, existing map[string]any) {
	keys, last := tomlKeys(field)
	path := append(slices.Clone(table), keys...)
	isInline := field.Value().Kind == unstable.InlineTable
	dotted, isOwn := s.pathWithinEntry(path)
	if !isOwn && isInline {
		for children := field.Value().Children(); children.Next(); {
			if child := children.Node(); child.Kind == unstable.KeyValue {
				s.editField(child, path, existing)
			}
		}
	}
	if !isOwn {
		return
	}
	start, end := int(field.Raw.Offset), endOf(field)
	if tablePath, ok := s.pathWithinEntry(table); ok {
		s.insertAt[tablePath] = s.lineEnd(end)
	}
	if isInline {
		s.inlinePaths = append(s.inlinePaths, dotted)
	}
	before, _ := valueAt(existing, dotted)
	value, isKept := valueAt(s.merged, dotted)
	object, isObject := value.(map[string]any)
	switch {
	case !isKept:
		s.edits = append(s.edits, tomlEdit{s.lineStart(start), s.lineEnd(end), ""})
	case reflect.DeepEqual(before, value):
	case isInline && isObject:
		s.edits = append(s.edits, tomlEdit{s.valueStart(last), end, s.inlineTable(field.Value(), before, object)})
	default:
		s.edits = append(s.edits, tomlEdit{s.valueStart(last), end, tomlValue(value)})
	}
}

// Keys of an inline TOML table keep their order, and unchanged values keep their text.
func (s *tomlServer) inlineTable(node *unstable.Node, existing any, merged map[string]any) string {
	var members []string
	old, _ := existing.(map[string]any)
	isDone := map[string]bool{}
	for children := node.Children(); children.Next(); {
		child := children.Node()
		if child.Kind != unstable.KeyValue {
			continue
		}
		keys, last := tomlKeys(child)
		name := strings.Join(keys, ".")
		value, isKept := valueAt(merged, name)
		before, _ := valueAt(old, name)
		key := string(s.data[child.Raw.Offset:s.valueStart(last)])
		isDone[keys[0]] = true
		switch object, isObject := value.(map[string]any); {
		case !isKept:
		case reflect.DeepEqual(before, value):
			members = append(members, string(s.data[child.Raw.Offset:endOf(child)]))
		case isObject && child.Value().Kind == unstable.InlineTable:
			members = append(members, key+s.inlineTable(child.Value(), before, object))
		default:
			members = append(members, key+tomlValue(value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		if !isDone[name] {
			members = append(members, tomlLine(name, merged[name]))
		}
	}
	return "{ " + strings.Join(members, ", ") + " }"
}

// The argument path lists the keys below the server opentabs. insertMissing returns false if the file has no
// table at path.
func (s *tomlServer) insertMissing(path []string, existing, merged map[string]any) bool {
	dotted := strings.Join(path, ".")
	if slices.ContainsFunc(s.inlinePaths, func(inline string) bool {
		return inline == "" || inline == dotted || strings.HasPrefix(dotted, inline+".")
	}) {
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		object, isObject := merged[name].(map[string]any)
		childPath := append(slices.Clone(path), name)
		if old, hasOld := existing[name]; hasOld {
			oldObject, wasObject := old.(map[string]any)
			if isObject && wasObject && !s.insertMissing(childPath, oldObject, object) {
				return false
			}
			continue
		}
		at, ok := s.insertAt[dotted]
		if !ok {
			return false
		}
		text := tomlLine(name, merged[name]) + "\n"
		if isObject {
			text = "\n[" + strings.Join(append(slices.Clone(s.own), childPath...), ".") + "]\n"
			for _, child := range slices.Sorted(maps.Keys(object)) {
				text += tomlLine(child, object[child]) + "\n"
			}
		}
		s.edits = append(s.edits, tomlEdit{at, at, text})
	}
	return true
}

func (s *tomlServer) valueStart(key *unstable.Node) int {
	at := endOf(key) + bytes.IndexByte(s.data[endOf(key):], '=') + 1
	return at + len(s.data[at:]) - len(bytes.TrimLeft(s.data[at:], " \t"))
}

func (s *tomlServer) lineStart(offset int) int {
	return bytes.LastIndexByte(s.data[:offset], '\n') + 1
}

func (s *tomlServer) lineEnd(offset int) int {
	if i := bytes.IndexByte(s.data[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(s.data)
}

func tomlKeys(node *unstable.Node) (names []string, last *unstable.Node) {
	for keys := node.Key(); keys.Next(); {
		last = keys.Node()
		names = append(names, string(last.Data))
	}
	return names, last
}

func endOf(node *unstable.Node) int { return int(node.Raw.Offset + node.Raw.Length) }

func valueAt(values map[string]any, dotted string) (value any, ok bool) {
	value = values
	if dotted == "" {
		return value, true
	}
	for name := range strings.SplitSeq(dotted, ".") {
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
		return "" // the function checkServerEdit rejects an edit with this empty line
	}
	return strings.TrimSpace(line.String())
}

func tomlValue(value any) string { return strings.TrimPrefix(tomlLine("x", value), "x = ") }
