package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"opentabs/internal/jsonread"
	"opentabs/internal/nearest"
	"opentabs/internal/rawjson"
)

// Undo declares how to undo a finished call of a tool: by a call of another tool of its
// plugin.
type Undo struct {
	// Tool is the name of the tool that undoes the call, without the name of the plugin.
	Tool string
	// Input contains the arguments for calls of Tool, sorted by name.
	Input []UndoArgument
}

// UndoArgument is one argument of a call that undoes another call.
type UndoArgument struct {
	Name string
	// Pointer is a JSON Pointer (RFC 6901) into the object {input, result} of the call that
	// is undone, such as /result/id.
	Pointer string
}

// String describes the undoing call, such as "restore_item (id from /result/id)".
func (u *Undo) String() string {
	if len(u.Input) == 0 {
		return u.Tool
	}
	var arguments []string
	for _, a := range u.Input {
		arguments = append(arguments, a.Name+" from "+a.Pointer)
	}
	return u.Tool + " (" + strings.Join(arguments, ", ") + ")"
}

// inputPointerRoot and resultPointerRoot are the two members of the JSON object in which an undo's JSON
// Pointers find arguments.
const (
	inputPointerRoot  = "input"
	resultPointerRoot = "result"
)

// UsesInput reports whether undoing a call requires one of the call's arguments.
func (u *Undo) UsesInput() bool { return u.usesPointerRoot(inputPointerRoot) }

// UsesResult reports whether undoing a call requires the call's result.
func (u *Undo) UsesResult() bool { return u.usesPointerRoot(resultPointerRoot) }

func (u *Undo) usesPointerRoot(root string) bool {
	return slices.ContainsFunc(u.Input, func(a UndoArgument) bool { return splitPointer(a.Pointer)[0] == root })
}

// Arguments returns the arguments for the call that undoes a call with the given input
// and result. An argument whose JSON Pointer leads to no value is left out, and
// missingPointers contains the pointer.
func (u *Undo) Arguments(input, toolResult json.RawMessage) (args json.RawMessage, missingPointers []string) {
	roots := map[string][]byte{inputPointerRoot: input, resultPointerRoot: toolResult}
	members := []rawjson.Member{}
	for _, a := range u.Input {
		steps := splitPointer(a.Pointer)
		value := roots[steps[0]]
		for _, stepName := range steps[1:] {
			value = findJSONChild(value, stepName)
		}
		if len(value) == 0 {
			missingPointers = append(missingPointers, a.Pointer)
			continue
		}
		members = append(members, rawjson.Member{Key: a.Name, QuotedKey: rawjson.Encode(a.Name), Value: value})
	}
	return rawjson.JoinMembers(members), missingPointers
}

func findJSONChild(value []byte, stepName string) []byte {
	switch rawjson.KindOf(value) {
	case rawjson.KindObject:
		return rawjson.Get(value, stepName)
	case rawjson.KindArray:
		i, err := strconv.Atoi(stepName)
		if elements := rawjson.Elements(value); err == nil && i >= 0 && i < len(elements) && stepName == strconv.Itoa(i) {
			return elements[i]
		}
	}
	return nil
}

func splitPointer(pointer string) []string {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, stepName := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(stepName)
	}
	return steps
}

func checkPointer(pointer string) string {
	for i := range len(pointer) {
		if pointer[i] == '~' && !strings.HasPrefix(pointer[i:], "~0") && !strings.HasPrefix(pointer[i:], "~1") {
			return fmt.Sprintf(`is %q; write "~" as "~0" and "/" in a name as "~1"`, pointer)
		}
	}
	if root := splitPointer(pointer)[0]; !strings.HasPrefix(pointer, "/") || root != inputPointerRoot && root != resultPointerRoot {
		return fmt.Sprintf(`is %q; begin it with /input for an argument of the call or /result for its result, as in "/result/id"`, pointer)
	}
	return ""
}

// parseUndo ignores an "undo" member in packages of the original OpenTabs SDK, which has no undo.
func parseUndo(f *jsonread.Reader, p *Plugin) *Undo {
	if p.IsForOriginalSDK {
		return nil
	}
	undo := f.Object("undo")
	if undo == nil {
		return nil
	}
	u := &Undo{Tool: undo.Text("tool", "name the tool that undoes the call")}
	input := undo.Object("input")
	if input == nil {
		return u
	}
	for _, name := range slices.Sorted(maps.Keys(input.Members)) {
		pointer := input.Text(name, `give it a JSON Pointer, as in "/result/id"`)
		if pointer == "" {
			continue
		}
		if problemText := checkPointer(pointer); problemText != "" {
			input.Add(name, "%s", problemText)
			continue
		}
		u.Input = append(u.Input, UndoArgument{Name: name, Pointer: pointer})
	}
	return u
}

func checkUndos(p *Plugin, problems *jsonread.Problems) {
	var names []string
	for _, t := range p.Tools {
		names = append(names, t.Name)
	}
	for i, t := range p.Tools {
		if t.Undo == nil || t.Undo.Tool == "" {
			continue
		}
		path := fmt.Sprintf("tools[%d].undo", i)
		undoIndex := slices.Index(names, t.Undo.Tool)
		switch {
		case t.Undo.Tool == t.Name:
			problems.Add("%s.tool is the tool itself; name another tool of the plugin", path)
		case undoIndex < 0:
			problems.Add("%s.tool is %q, but the plugin has no such tool%s; name a tool of the plugin", path, t.Undo.Tool, nearest.Suggestion(t.Undo.Tool, names))
		default:
			t.Undo.checkArguments(path, p.Tools[undoIndex], problems)
		}
	}
}

func (u *Undo) checkArguments(path string, undoTool *Tool, problems *jsonread.Problems) {
	for _, rawJSON := range rawjson.Elements(rawjson.Get(undoTool.InputSchema, "required")) {
		name := rawjson.Unquote(rawJSON)
		if !slices.ContainsFunc(u.Input, func(a UndoArgument) bool { return a.Name == name }) {
			problems.Add(`%s.input has no %q, which %s requires; add it, as in {%q: "/result/id"}`, path, name, undoTool.Name, name)
		}
	}
	if string(rawjson.Get(undoTool.InputSchema, "additionalProperties")) != "false" {
		return
	}
	properties := rawjson.Get(undoTool.InputSchema, "properties")
	for _, a := range u.Input {
		if rawjson.Get(properties, a.Name) == nil {
			problems.Add("%s.input has %q, which %s does not accept; remove it", path, a.Name, undoTool.Name)
		}
	}
}

// UndoTool returns the tool that undoes finished calls of t, or nil if t declares no undo.
func (t *Tool) UndoTool() *Tool {
	if t.Undo == nil {
		return nil
	}
	i := slices.IndexFunc(t.Plugin.Tools, func(otherTool *Tool) bool { return otherTool.Name == t.Undo.Tool })
	if i < 0 {
		return nil
	}
	return t.Plugin.Tools[i]
}
