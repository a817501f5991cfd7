package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/plugin"
	"opentabs/wire"
)

// `instance` exists only for plugins with instances, and `_detach` only if calls may become jobs.
const (
	tabArgument      = "tabId"
	browserArgument  = "browser"
	instanceArgument = "instance"
	detachArgument   = "_detach"
)

// The type arguments contains the arguments of one call.
type arguments struct {
	toolArgs json.RawMessage
	// tabID, browser and instance select where the call runs.
	tabID    int
	browser  string
	instance string
	detach   json.RawMessage
}

// definedArguments records which argument names of opentabs the tool's own schema defines.
// opentabs passes an argument that the tool's schema defines to the tool.
type definedArguments struct{ definesTab, definesBrowser, definesInstance, definesDetach bool }

func findDefinedArguments(schema json.RawMessage, p *plugin.Plugin) definedArguments {
	if p.IsBuiltin() { // the schemas of browser tools already describe the argument tabId of opentabs
		return definedArguments{definesInstance: true}
	}
	return definedArguments{
		definesTab: definesProperty(schema, tabArgument), definesBrowser: definesProperty(schema, browserArgument), definesDetach: definesProperty(schema, detachArgument),
		definesInstance: len(p.Instances) == 0 || definesProperty(schema, instanceArgument),
	}
}

func (d definedArguments) isAdded(name string) bool {
	switch name {
	case tabArgument:
		return !d.definesTab
	case browserArgument:
		return !d.definesBrowser
	case instanceArgument:
		return !d.definesInstance
	case detachArgument:
		return !d.definesDetach
	}
	return false
}

// mayContainAddedArguments reports whether the JSON text may contain an argument of opentabs, such as tabId. It searches the text without parsing.
func (d definedArguments) mayContainAddedArguments(rawJSON []byte) bool {
	return !d.definesTab && bytes.Contains(rawJSON, []byte(`"`+tabArgument+`"`)) ||
		!d.definesBrowser && bytes.Contains(rawJSON, []byte(`"`+browserArgument+`"`)) ||
		!d.definesInstance && bytes.Contains(rawJSON, []byte(`"`+instanceArgument+`"`)) ||
		!d.definesDetach && bytes.Contains(rawJSON, []byte(`"`+detachArgument+`"`))
}

func instanceNames(p *plugin.Plugin) []string {
	var names []string
	for _, i := range p.Instances {
		if !slices.Contains(names, i.Name) {
			names = append(names, i.Name)
		}
	}
	return names
}

// splitArguments separates "tabId", "browser", "instance" and "_detach" from the arguments, unless the tool defines
// them. splitArguments does not change the tool's own arguments, so large integers stay exact. An error of
// splitArguments is a *dispatch.Error for the agent.
func splitArguments(rawJSON json.RawMessage, definedByTool definedArguments, isPrompt bool) (arguments, error) {
	if len(rawJSON) == 0 || string(rawJSON) == "null" {
		return arguments{toolArgs: json.RawMessage("{}")}, nil
	}
	if !definedByTool.mayContainAddedArguments(rawJSON) {
		return arguments{toolArgs: rawJSON}, nil
	}
	a := arguments{toolArgs: rawJSON}
	var toolMembers []rawjson.Member
	for m := range rawjson.Members(rawJSON) { // if raw is not an object, there are no members, and the validation against the tool's schema returns the error
		if !definedByTool.isAdded(m.Key) {
			toolMembers = append(toolMembers, m)
			continue
		}
		a.toolArgs = nil
		if string(m.Value) == "null" {
			continue // null counts as a missing argument
		}
		if err := a.setArgument(m, isPrompt); err != nil {
			return a, err
		}
	}
	if a.toolArgs == nil {
		a.toolArgs = rawjson.JoinMembers(toolMembers)
	}
	return a, nil
}

func (a *arguments) setArgument(m rawjson.Member, isPrompt bool) error {
	switch m.Key {
	case tabArgument:
		argumentText := string(m.Value)
		if isPrompt {
			argumentText = strings.Trim(argumentText, `"`)
		}
		id, err := strconv.ParseInt(argumentText, 10, 32)
		if err != nil || id <= 0 {
			return newArgumentError(tabArgument, m.Value, "the id of a tab, a positive integer")
		}
		a.tabID = int(id)
	case browserArgument:
		if json.Unmarshal(m.Value, &a.browser) != nil || a.browser == "" {
			return newArgumentError(browserArgument, m.Value, "the id or the name of a browser, a string that is not empty")
		}
	case instanceArgument:
		if json.Unmarshal(m.Value, &a.instance) != nil || a.instance == "" {
			return newArgumentError(instanceArgument, m.Value, "the name of an instance, a string that is not empty")
		}
	default:
		a.detach = m.Value
	}
	return nil
}

func newArgumentError(name string, got json.RawMessage, want string) error {
	shownValue := string(got)
	if len(shownValue) > 40 {
		shownValue = strings.ToValidUTF8(shownValue[:40], "") + "..."
	}
	return &dispatch.Error{
		Code:    wire.ErrInvalidArguments,
		Message: fmt.Sprintf("The argument %q is %s, but it must be %s. Correct it or leave it out, then call again.", name, shownValue, want),
	}
}
