package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"opentabs/internal/jsonedit"
	"opentabs/internal/lazyregexp"
)

// format edits the text of configuration files in one syntax. Its methods change only the
// server opentabs, and keep the rest of the file unchanged. The text has no byte order
// mark, and its lines end with \n; see [editText].
type format interface {
	// set returns data in which the server opentabs has the fields of entry. The server
	// is in the object at the path servers. Further fields of the server stay.
	set(data []byte, servers []string, entry any) ([]byte, error)
	// remove returns data without the server opentabs in the object at the path servers.
	remove(data []byte, servers []string) ([]byte, error)
	// decode returns the decoded values of the configuration in data.
	decode(data []byte) (map[string]any, error)
}

// errOtherChange is the error for an edit that would change more than the server
// opentabs.
var errOtherChange = errors.New("opentabs cannot change this file without changing other parts of it: add the server by hand, as `opentabs setup --print` shows")

// checkEdit checks that an edit has changed only one server in a configuration file, and
// returns the new content.
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

// checkServerEdit is like [edited], and also checks that the file contains the server after
// the edit.
func checkServerEdit(f format, before, after []byte, servers []string) ([]byte, error) {
	after, err := checkEdit(f, before, after, servers)
	if err != nil {
		return nil, err
	}
	if values, err := f.decode(after); err != nil || findServer(values, servers) == nil { // the check fails, for example, for YAML with several documents
		return nil, errOtherChange
	}
	return after, nil
}

// editText changes the text of a configuration file. editText keeps the byte order mark
// and the line ends of Windows.
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

// findCommandServer returns the fields of the server opentabs if the server is started by a
// command. findCommandServer returns nil for a missing server, and for a server over HTTP,
// because its fields do not apply to a command.
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

// fieldTimeout is the name of the field in which the user may have set a longer timeout.
const fieldTimeout = "timeout"

// homeVariable is the environment variable that selects another installation of opentabs.
// Only setup writes this variable into the configuration of an MCP client.
const homeVariable = "OPENTABS_HOME"

// mergeFields returns the fields of entry, and the further fields and environment
// variables that the user has added to the server. homeVariable is not kept.
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

// withoutServer removes the server opentabs from the object at the path servers. If this
// object is then empty, withoutServer removes the object, too.
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

// findServer returns the value of the server opentabs in the object at the path servers;
// nil if there is no such server.
func findServer(values map[string]any, servers []string) any {
	for _, name := range servers {
		values, _ = values[name].(map[string]any)
	}
	return values[serverName]
}

// byteOrderMark is the byte order mark that some editors on Windows write at the
// beginning of a file.
var byteOrderMark = []byte("\ufeff")

// jsonFormat edits configuration files in JSON with comments and trailing commas.
type jsonFormat struct{}

func (f jsonFormat) set(data []byte, servers []string, entry any) ([]byte, error) {
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

// setMember sets the JSON member at path to value. If the existing member and value are
// both objects, setMember changes only the members that value contains.
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

func (f jsonFormat) remove(data []byte, servers []string) ([]byte, error) {
	after, _, err := jsonedit.Remove(data, append(servers[:len(servers):len(servers)], serverName))
	if err != nil {
		return nil, err
	}
	return checkEdit(f, data, after, servers)
}

func (jsonFormat) decode(data []byte) (map[string]any, error) {
	standard, err := jsonedit.Standardize(bytes.TrimPrefix(data, byteOrderMark))
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(standard))
	decoder.UseNumber()
	var values map[string]any
	if err := decoder.Decode(&values); err != nil {
		return nil, err
	}
	return values, nil
}

// tomlFormat edits configuration files in TOML, in which each server is a table.
type tomlFormat struct{}

func (f tomlFormat) set(data []byte, servers []string, entry any) ([]byte, error) {
	if _, err := f.decode(data); err != nil {
		return nil, err
	}
	table := entry
	if existing := findCommandServer(f, data, servers); existing != nil {
		text, err := toml.Marshal(entry)
		var fields map[string]any
		if err == nil {
			err = toml.Unmarshal(text, &fields)
		}
		if err != nil {
			return nil, err
		}
		merged := mergeFields(existing, fields)
		if reflect.DeepEqual(merged, existing) {
			return data, nil
		}
		table = merged
	}
	for _, name := range append([]string{serverName}, reversed(servers)...) {
		table = map[string]any{name: table}
	}
	block, err := toml.Marshal(table)
	if err != nil {
		return nil, err
	}
	// Marshal also writes the headers of the parent tables, which the file may already
	// contain.
	for _, name := range parentTables(servers) {
		block = bytes.TrimPrefix(block, []byte("["+name+"]\n"))
	}
	kept := removeTable(data, servers)
	if len(kept) > 0 {
		kept = append(bytes.TrimRight(kept, "\r\n\t "), "\n\n"...)
	}
	return checkServerEdit(f, data, append(kept, block...), servers)
}

func (f tomlFormat) remove(data []byte, servers []string) ([]byte, error) {
	return checkEdit(f, data, removeTable(data, servers), servers)
}

func (tomlFormat) decode(data []byte) (map[string]any, error) {
	var values map[string]any
	if err := toml.Unmarshal(bytes.TrimPrefix(data, byteOrderMark), &values); err != nil {
		var position *toml.DecodeError
		if errors.As(err, &position) {
			row, column := position.Position()
			return nil, fmt.Errorf("line %d, column %d: %w", row, column, err)
		}
		return nil, err
	}
	return values, nil
}

// tableHeader matches the header of a TOML table or of an array of tables.
var tableHeader = lazyregexp.New(`^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$`)

// removeTable removes the table of the server opentabs and its subtables from a TOML
// file. Comments and blank lines before the next table stay with the next table.
func removeTable(data []byte, servers []string) []byte {
	own := strings.Join(append(servers[:len(servers):len(servers)], serverName), ".")
	var kept, pending []byte
	isOwn := false
	for line := range bytes.Lines(data) {
		if header := tableHeader().FindSubmatch(bytes.TrimRight(line, "\r\n")); header != nil {
			name := strings.NewReplacer(`"`, "", `'`, "", " ", "", "\t", "").Replace(string(header[1]))
			isOwn = name == own || strings.HasPrefix(name, own+".")
			if !isOwn {
				kept = append(kept, pending...)
			}
			pending = nil
		}
		trimmed := bytes.TrimSpace(line)
		switch {
		case !isOwn:
			kept = append(kept, line...)
		case len(trimmed) == 0 || trimmed[0] == '#':
			pending = append(pending, line...)
		default:
			pending = nil
		}
	}
	return kept
}

// yamlFormat edits configuration files in YAML block style, in which each server is a
// mapping.
type yamlFormat struct{}

func (f yamlFormat) set(data []byte, servers []string, entry any) ([]byte, error) {
	if _, err := f.decode(data); err != nil {
		return nil, err
	}
	if existing := findCommandServer(f, data, servers); existing != nil {
		text, err := yaml.Marshal(entry)
		var fields map[string]any
		if err == nil {
			err = yaml.Unmarshal(text, &fields)
		}
		if err != nil {
			return nil, err
		}
		merged := mergeFields(existing, fields)
		if reflect.DeepEqual(merged, existing) {
			return data, nil
		}
		entry = merged
	}
	var encoded bytes.Buffer
	encoder := yaml.NewEncoder(&encoded)
	encoder.SetIndent(len(yamlIndent))
	if err := errors.Join(encoder.Encode(map[string]any{serverName: entry}), encoder.Close()); err != nil {
		return nil, err
	}
	kept := emptyMapping(servers[0]).ReplaceAll(removeMapping(data, servers[0]), []byte("$1$2"))
	at, indent, ok := findChildren(kept, servers[0])
	if !ok {
		if len(kept) > 0 && kept[len(kept)-1] != '\n' {
			kept = append(kept, '\n')
		}
		kept = append(kept, servers[0]+":\n"...)
		at, indent = len(kept), yamlIndent
	}
	var block []byte
	for line := range bytes.Lines(encoded.Bytes()) {
		block = append(append(block, indent...), line...)
	}
	after := append(append(kept[:at:at], block...), kept[at:]...)
	return checkServerEdit(f, data, after, servers)
}

func (f yamlFormat) remove(data []byte, servers []string) ([]byte, error) {
	return checkEdit(f, data, removeMapping(data, servers[0]), servers)
}

func (yamlFormat) decode(data []byte) (map[string]any, error) {
	var values map[string]any
	if err := yaml.Unmarshal(data, &values); err != nil {
		return nil, err
	}
	return values, nil
}

// yamlIndent is the indentation of a new YAML mapping.
const yamlIndent = "  "

// emptyMapping returns a pattern for a top-level key of a YAML file whose value is {} or
// null.
func emptyMapping(key string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(["']?` + regexp.QuoteMeta(key) + `["']?:)[ \t]+(?:\{[ \t]*\}|null|~)([ \t]*(?:#.*)?)$`)
}

// findChildren returns the offset behind the line of a top-level key in a YAML file, and
// the indentation of the key's children. ok is false if the key does not start a block.
func findChildren(data []byte, key string) (at int, indent string, ok bool) {
	offset := 0
	isBehindKey := false
	for line := range bytes.Lines(data) {
		trimmed := bytes.TrimSpace(line)
		if isBehindKey && len(trimmed) > 0 && trimmed[0] != '#' {
			if indent = indentOf(line); indent == "" {
				indent = yamlIndent
			}
			return at, indent, true
		}
		offset += len(line)
		if !isBehindKey && indentOf(line) == "" && startsBlock(trimmed, key) {
			isBehindKey, at = true, offset
		}
	}
	return at, yamlIndent, isBehindKey
}

// removeMapping removes the server opentabs from the mapping of a top-level key in a YAML
// file.
func removeMapping(data []byte, key string) []byte {
	at, indent, ok := findChildren(data, key)
	if !ok {
		return bytes.Clone(data)
	}
	kept := bytes.Clone(data[:at])
	isOwn, isInside := false, true
	for line := range bytes.Lines(data[at:]) {
		trimmed := bytes.TrimSpace(line)
		if isInside && len(trimmed) > 0 && trimmed[0] != '#' {
			switch own := indentOf(line); {
			case len(own) < len(indent):
				isInside, isOwn = false, false
			case own == indent:
				isOwn = startsBlock(trimmed, serverName)
			}
		}
		if !isOwn {
			kept = append(kept, line...)
		}
	}
	return kept
}

// startsBlock reports whether a line of YAML starts the block of a given key.
func startsBlock(trimmed []byte, key string) bool {
	for _, spelling := range []string{key, `"` + key + `"`, "'" + key + "'"} {
		if rest, ok := bytes.CutPrefix(trimmed, []byte(spelling+":")); ok {
			rest = bytes.TrimSpace(rest)
			return len(rest) == 0 || rest[0] == '#'
		}
	}
	return false
}

func indentOf(line []byte) string {
	return string(line[:len(line)-len(bytes.TrimLeft(line, " "))])
}

func reversed(names []string) []string {
	var out []string
	for i := len(names) - 1; i >= 0; i-- {
		out = append(out, names[i])
	}
	return out
}

// parentTables returns the dotted names of all TOML tables on a path: a, a.b and a.b.c for the
// path a, b, c.
func parentTables(path []string) []string {
	var names []string
	for i := range path {
		names = append(names, strings.Join(path[:i+1], "."))
	}
	return names
}
