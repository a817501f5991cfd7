// Package jsonedit changes single members of JSON files that users also edit. Package
// jsonedit preserves comments, trailing commas, the order of members, and the layout of
// the rest of the file. Editors such as VS Code and Zed accept JSON with comments and
// trailing commas.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// defaultIndent is the indentation of one level in a JSON file without any indented line.
const defaultIndent = "  "

// Set returns the JSON document in data with the member at path replaced by value. The
// parameter value must be valid JSON. Set creates missing objects on the path to the
// member. Set returns an error if a member on the path is not an object. Data without any
// JSON value is treated as an empty object.
func Set(data []byte, path []string, value json.RawMessage) ([]byte, error) {
	document, err := parse(data)
	if err != nil {
		return nil, err
	}
	parent := &document
	for i, name := range path {
		object, ok := parent.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%s is not an object in braces, such as {}", describePath(path[:i]))
		}
		at := indexOf(object, name)
		if isLast := i == len(path)-1; at >= 0 && !isLast && !isNull(object.Members[at].Value) {
			parent = &object.Members[at].Value
			continue
		}
		newValue := value
		for j := len(path) - 1; j > i; j-- {
			newValue = json.RawMessage(fmt.Sprintf("{%s:%s}", quote(path[j]), newValue))
		}
		style := detectStyle(data, parent)
		if at >= 0 {
			object.Members[at].Value.Value = style.parseValue(newValue).Value
		} else {
			style.append(object, name, style.parseValue(newValue))
		}
		break
	}
	return document.Pack(), nil
}

// Remove returns the JSON document in data without the member at path. If the document
// has no such member, Remove returns data unchanged, and removed is false.
func Remove(data []byte, path []string) (out []byte, removed bool, err error) {
	document, err := parse(data)
	if err != nil {
		return nil, false, err
	}
	parent := &document
	for i, name := range path {
		object, ok := parent.Value.(*hujson.Object)
		if !ok {
			return data, false, nil
		}
		at := indexOf(object, name)
		if at < 0 {
			return data, false, nil
		}
		if i < len(path)-1 {
			parent = &object.Members[at].Value
			continue
		}
		removeMember(object, at)
	}
	return document.Pack(), true, nil
}

// removeMember keeps the comments around the removed member.
func removeMember(object *hujson.Object, at int) {
	member := object.Members[at]
	comments := joinComments(member.Name.BeforeExtra, member.Value.AfterExtra)
	if last := len(object.Members) - 1; at < last {
		next := &object.Members[at+1].Name
		next.BeforeExtra = joinExtras(comments, next.BeforeExtra)
	} else {
		if last > 0 {
			previous := &object.Members[last-1].Value
			comments = joinExtras(joinComments(previous.AfterExtra), comments)
			previous.AfterExtra = nil
			if member.Value.AfterExtra != nil {
				previous.AfterExtra = hujson.Extra{}
			}
		}
		object.AfterExtra = joinExtras(comments, object.AfterExtra)
	}
	object.Members = append(object.Members[:at], object.Members[at+1:]...)
}

func joinComments(parts ...hujson.Extra) hujson.Extra {
	var joined hujson.Extra
	for _, part := range parts {
		if bytes.ContainsRune(part, '/') {
			joined = joinExtras(joined, bytes.TrimRight(part, " \t\r\n"))
		}
	}
	return joined
}

// After a // comment, joinExtras adds a line break, because the following text would otherwise become part of the
// comment.
func joinExtras(comments, rest hujson.Extra) hujson.Extra {
	if len(comments) == 0 {
		return rest
	}
	line := comments[bytes.LastIndexByte(comments, '\n')+1:]
	joined := comments[:len(comments):len(comments)]
	if bytes.Contains(line, []byte("//")) && !bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r"), []byte("\n")) {
		joined = append(joined, '\n')
	}
	return append(joined, rest...)
}

// Standardize returns a JSON document without its comments and trailing commas.
func Standardize(data []byte) ([]byte, error) {
	document, err := parse(data)
	if err != nil {
		return nil, err
	}
	document.Standardize()
	return document.Pack(), nil
}

func parse(data []byte) (hujson.Value, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	document, err := hujson.Parse(bytes.Clone(data)) // a hujson.Value changes the memory of its input
	if err == nil {
		return document, nil
	}
	// If a JSON file contains only comments, parse adds an empty object after the
	// comments.
	if commented, commentErr := hujson.Parse(append(bytes.Clone(data), "\n{}\n"...)); commentErr == nil {
		return commented, nil
	}
	return document, err
}

// The function Set replaces a null on the path to a member with an object.
func isNull(value hujson.Value) bool {
	literal, ok := value.Value.(hujson.Literal)
	return ok && literal.Kind() == 'n'
}

// If a name occurs more than once in a JSON object, JSON parsers use the last member.
func indexOf(object *hujson.Object, name string) int {
	for i := len(object.Members) - 1; i >= 0; i-- {
		if literal, ok := object.Members[i].Name.Value.(hujson.Literal); ok && literal.String() == name {
			return i
		}
	}
	return -1
}

// The type style is the layout of a JSON object in a file.
type style struct {
	// memberIndent is the white space before each member, and closingIndent the white space before the closing brace.
	memberIndent, closingIndent, step string
	isOneLine                         bool
}

func detectStyle(data []byte, value *hujson.Value) style {
	s := style{step: detectIndentStep(data)}
	object, ok := value.Value.(*hujson.Object)
	if !ok || len(object.Members) == 0 {
		s.closingIndent = lineIndentBefore(data, value.StartOffset)
		s.memberIndent = s.closingIndent + s.step
		return s
	}
	first := string(object.Members[0].Name.BeforeExtra)
	newline := strings.LastIndexByte(first, '\n')
	if newline < 0 {
		s.isOneLine = !bytes.Contains(object.AfterExtra, []byte("\n"))
		return s
	}
	s.memberIndent = first[newline+1:]
	after := string(object.AfterExtra)
	s.closingIndent = after[strings.LastIndexByte(after, '\n')+1:]
	return s
}

func detectIndentStep(data []byte) string {
	for line := range bytes.Lines(data) {
		if trimmed := bytes.TrimLeft(line, " \t"); len(trimmed) < len(line) && len(bytes.TrimSpace(line)) > 0 {
			return string(line[:len(line)-len(trimmed)])
		}
	}
	return defaultIndent
}

func lineIndentBefore(data []byte, offset int) string {
	before := data[:min(offset, len(data))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (s style) parseValue(value json.RawMessage) hujson.Value {
	text := value
	var indented bytes.Buffer
	if !s.isOneLine && json.Indent(&indented, value, s.memberIndent, s.step) == nil {
		text = indented.Bytes()
	}
	parsed, err := hujson.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("jsonedit: the new value is not JSON: %v", err))
	}
	return parsed
}

// The method append keeps comments after the last member of a JSON object directly behind this member, before the
// new member.
func (s style) append(object *hujson.Object, name string, value hujson.Value) {
	member := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: value}
	member.Value.BeforeExtra = hujson.Extra(" ")
	if last := len(object.Members) - 1; last >= 0 {
		member.Value.AfterExtra = object.Members[last].Value.AfterExtra
		object.Members[last].Value.AfterExtra = nil
	}
	if s.isOneLine {
		member.Name.BeforeExtra = hujson.Extra(" ")
	} else {
		kept := bytes.TrimRight(object.AfterExtra, " \t\r\n")
		member.Name.BeforeExtra = append(kept[:len(kept):len(kept)], "\n"+s.memberIndent...)
		object.AfterExtra = hujson.Extra("\n" + s.closingIndent)
	}
	object.Members = append(object.Members, member)
}

func quote(text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return quoted
}

func describePath(path []string) string {
	if len(path) == 0 {
		return "the file"
	}
	return fmt.Sprintf("%q", strings.Join(path, "."))
}
