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

// Set returns the JSON document in configBytes with the member at path set to valueJSON. The
// parameter valueJSON must be valid JSON. Set creates missing objects on the path to the
// member. Set returns an error if a member on the path is not an object. Set treats a document
// without any JSON value as an empty object.
func Set(configBytes []byte, path []string, valueJSON json.RawMessage) ([]byte, error) {
	document, err := parse(configBytes)
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
		newValue := valueJSON
		for j := len(path) - 1; j > i; j-- {
			newValue = json.RawMessage(fmt.Sprintf("{%s:%s}", quote(path[j]), newValue))
		}
		style := detectStyle(configBytes, parent)
		if at >= 0 {
			object.Members[at].Value.Value = style.parseValue(newValue).Value
		} else {
			style.append(object, name, style.parseValue(newValue))
		}
		break
	}
	return document.Pack(), nil
}

// Remove returns the JSON document in configBytes without the member at path. If the document
// has no such member, Remove returns configBytes unchanged, and removed is false.
func Remove(configBytes []byte, path []string) (editedJSON []byte, removed bool, err error) {
	document, err := parse(configBytes)
	if err != nil {
		return nil, false, err
	}
	parent := &document
	for i, name := range path {
		object, ok := parent.Value.(*hujson.Object)
		if !ok {
			return configBytes, false, nil
		}
		at := indexOf(object, name)
		if at < 0 {
			return configBytes, false, nil
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
	if lastIndex := len(object.Members) - 1; at < lastIndex {
		nextValue := &object.Members[at+1].Name
		nextValue.BeforeExtra = appendWhitespace(comments, nextValue.BeforeExtra)
	} else {
		if lastIndex > 0 {
			previousValue := &object.Members[lastIndex-1].Value
			comments = appendWhitespace(joinComments(previousValue.AfterExtra), comments)
			previousValue.AfterExtra = nil
			if member.Value.AfterExtra != nil {
				previousValue.AfterExtra = hujson.Extra{}
			}
		}
		object.AfterExtra = appendWhitespace(comments, object.AfterExtra)
	}
	object.Members = append(object.Members[:at], object.Members[at+1:]...)
}

func joinComments(comments ...hujson.Extra) hujson.Extra {
	var allComments hujson.Extra
	for _, commentText := range comments {
		if bytes.ContainsRune(commentText, '/') {
			allComments = appendWhitespace(allComments, bytes.TrimRight(commentText, " \t\r\n"))
		}
	}
	return allComments
}

// After a // comment, appendWhitespace adds a line break, because the following text would otherwise become part of the
// comment.
func appendWhitespace(comments, remainingSpace hujson.Extra) hujson.Extra {
	if len(comments) == 0 {
		return remainingSpace
	}
	line := comments[bytes.LastIndexByte(comments, '\n')+1:]
	joinedExtra := comments[:len(comments):len(comments)]
	if bytes.Contains(line, []byte("//")) && !bytes.HasPrefix(bytes.TrimLeft(remainingSpace, " \t\r"), []byte("\n")) {
		joinedExtra = append(joinedExtra, '\n')
	}
	return append(joinedExtra, remainingSpace...)
}

// StripComments returns a JSON document without its comments and trailing commas.
func StripComments(configBytes []byte) ([]byte, error) {
	document, err := parse(configBytes)
	if err != nil {
		return nil, err
	}
	document.Standardize()
	return document.Pack(), nil
}

func parse(configBytes []byte) (hujson.Value, error) {
	if len(bytes.TrimSpace(configBytes)) == 0 {
		configBytes = []byte("{}\n")
	}
	document, err := hujson.Parse(bytes.Clone(configBytes)) // hujson.Value shares memory with its input and changes it
	if err == nil {
		return document, nil
	}
	// If a JSON file contains only comments, parse adds an empty object after the
	// comments.
	if commentOnlyValue, commentErr := hujson.Parse(append(bytes.Clone(configBytes), "\n{}\n"...)); commentErr == nil {
		return commentOnlyValue, nil
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
	memberIndent, closingIndent, stepName string
	isOneLine                             bool
}

func detectStyle(configBytes []byte, value *hujson.Value) style {
	s := style{stepName: detectIndentStep(configBytes)}
	object, ok := value.Value.(*hujson.Object)
	if !ok || len(object.Members) == 0 {
		s.closingIndent = lineIndentBefore(configBytes, value.StartOffset)
		s.memberIndent = s.closingIndent + s.stepName
		return s
	}
	textBeforeMember := string(object.Members[0].Name.BeforeExtra)
	newline := strings.LastIndexByte(textBeforeMember, '\n')
	if newline < 0 {
		s.isOneLine = !bytes.Contains(object.AfterExtra, []byte("\n"))
		return s
	}
	s.memberIndent = textBeforeMember[newline+1:]
	textAfter := string(object.AfterExtra)
	s.closingIndent = textAfter[strings.LastIndexByte(textAfter, '\n')+1:]
	return s
}

func detectIndentStep(configBytes []byte) string {
	for line := range bytes.Lines(configBytes) {
		if trimmedLine := bytes.TrimLeft(line, " \t"); len(trimmedLine) < len(line) && len(bytes.TrimSpace(line)) > 0 {
			return string(line[:len(line)-len(trimmedLine)])
		}
	}
	return defaultIndent
}

func lineIndentBefore(configBytes []byte, offset int) string {
	contentBefore := configBytes[:min(offset, len(configBytes))]
	line := contentBefore[bytes.LastIndexByte(contentBefore, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (s style) parseValue(valueJSON json.RawMessage) hujson.Value {
	newValue := valueJSON
	var indentedJSON bytes.Buffer
	if !s.isOneLine && json.Indent(&indentedJSON, valueJSON, s.memberIndent, s.stepName) == nil {
		newValue = indentedJSON.Bytes()
	}
	parsedValue, err := hujson.Parse(newValue)
	if err != nil {
		panic(fmt.Sprintf("jsonedit: the new value is not JSON: %v", err))
	}
	return parsedValue
}

// The method append keeps comments after the last member of a JSON object directly behind this member, before the
// new member.
func (s style) append(object *hujson.Object, name string, value hujson.Value) {
	member := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: value}
	member.Value.BeforeExtra = hujson.Extra(" ")
	if lastIndex := len(object.Members) - 1; lastIndex >= 0 {
		member.Value.AfterExtra = object.Members[lastIndex].Value.AfterExtra
		object.Members[lastIndex].Value.AfterExtra = nil
	}
	if s.isOneLine {
		member.Name.BeforeExtra = hujson.Extra(" ")
	} else {
		trimmedExtra := bytes.TrimRight(object.AfterExtra, " \t\r\n")
		member.Name.BeforeExtra = append(trimmedExtra[:len(trimmedExtra):len(trimmedExtra)], "\n"+s.memberIndent...)
		object.AfterExtra = hujson.Extra("\n" + s.closingIndent)
	}
	object.Members = append(object.Members, member)
}

func quote(key string) []byte {
	quotedJSON, err := json.Marshal(key)
	if err != nil {
		panic(err)
	}
	return quotedJSON
}

func describePath(path []string) string {
	if len(path) == 0 {
		return "the file"
	}
	return fmt.Sprintf("%q", strings.Join(path, "."))
}
