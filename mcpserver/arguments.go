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

// The arguments of every call in addition to those of its tool: instance only if the
// plugin has instances, _detach only if calls may become jobs.
const (
	argTab      = "tabId"
	argBrowser  = "browser"
	argInstance = "instance"
	argDetach   = "_detach"
)

// arguments are the arguments of one call.
type arguments struct {
	// tool contains the tool's own arguments, a JSON object.
	tool json.RawMessage
	// tabID, browser and instance are where the call runs; zero if not set.
	tabID    int
	browser  string
	instance string
	// detach is the value of _detach, nil if not set.
	detach json.RawMessage
}

// definedArguments are the names that the tool's own schema defines. An argument that
// the schema defines is passed to the tool.
type definedArguments struct{ tab, browser, instance, detach bool }

// argumentsDefinedBy returns which names the schema of a tool or prompt of p defines.
func argumentsDefinedBy(schema json.RawMessage, p *plugin.Plugin) definedArguments {
	return definedArguments{
		tab: definesProperty(schema, argTab), browser: definesProperty(schema, argBrowser), detach: definesProperty(schema, argDetach),
		instance: len(p.Instances) == 0 || definesProperty(schema, argInstance),
	}
}

// instanceNames returns the names of a plugin's instances, each once.
func instanceNames(p *plugin.Plugin) []string {
	var names []string
	for _, i := range p.Instances {
		if !slices.Contains(names, i.Name) {
			names = append(names, i.Name)
		}
	}
	return names
}

// splitArguments separates "tabId", "browser", "instance" and "_detach" from a call's
// arguments, unless the tool defines them. All other arguments are passed unchanged, so
// large integers stay exact. isPrompt is set for a prompt, which has only text
// arguments. An error is a *dispatch.Error for the agent.
func splitArguments(raw json.RawMessage, defined definedArguments, isPrompt bool) (arguments, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return arguments{tool: json.RawMessage("{}")}, nil
	}
	a := arguments{tool: raw}
	ours := map[string]bool{argTab: !defined.tab, argBrowser: !defined.browser, argInstance: !defined.instance, argDetach: !defined.detach}
	for name := range ours {
		ours[name] = ours[name] && bytes.Contains(raw, []byte(`"`+name+`"`))
	}
	if !ours[argTab] && !ours[argBrowser] && !ours[argInstance] && !ours[argDetach] {
		return a, nil
	}
	var kept []rawjson.Member
	for m := range rawjson.Members(raw) { // of no object: the validation against the tool's schema returns the error
		if !ours[m.Key] {
			kept = append(kept, m)
			continue
		}
		a.tool = nil
		if string(m.Value) == "null" {
			continue // same as a missing one
		}
		if err := a.set(m, isPrompt); err != nil {
			return a, err
		}
	}
	if a.tool == nil {
		a.tool = rawjson.JoinMembers(kept)
	}
	return a, nil
}

// set sets one of the fields from an argument.
func (a *arguments) set(m rawjson.Member, isPrompt bool) error {
	switch m.Key {
	case argTab:
		text := string(m.Value)
		if isPrompt {
			text = strings.Trim(text, `"`)
		}
		id, err := strconv.ParseInt(text, 10, 32)
		if err != nil || id <= 0 {
			return badArgument(argTab, m.Value, "the id of a tab, a positive integer")
		}
		a.tabID = int(id)
	case argBrowser:
		if json.Unmarshal(m.Value, &a.browser) != nil || a.browser == "" {
			return badArgument(argBrowser, m.Value, "the id or the name of a browser, a string that is not empty")
		}
	case argInstance:
		if json.Unmarshal(m.Value, &a.instance) != nil || a.instance == "" {
			return badArgument(argInstance, m.Value, "the name of an instance, a string that is not empty")
		}
	default:
		a.detach = m.Value
	}
	return nil
}

func badArgument(name string, got json.RawMessage, want string) error {
	shown := string(got)
	if len(shown) > 40 {
		shown = strings.ToValidUTF8(shown[:40], "") + "..."
	}
	return &dispatch.Error{
		Code:    wire.ErrInvalidArguments,
		Message: fmt.Sprintf("The argument %q is %s, but it must be %s. Correct it or leave it out, then call again.", name, shown, want),
	}
}
