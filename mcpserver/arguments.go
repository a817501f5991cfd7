package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/wire"
)

// The arguments that every call may have beside those of its tool: an instance if
// the plugin has some, and the last only where calls may become jobs.
const (
	argTab      = "tabId"
	argBrowser  = "browser"
	argInstance = "instance"
	argDetach   = "_detach"
)

// arguments are the arguments of one call.
type arguments struct {
	// tool is what the tool gets, a JSON object.
	tool json.RawMessage
	// tabID, browser and instance say where to run; zero if the client did not.
	tabID    int
	browser  string
	instance string
	// detach is what the client said of it, nil if nothing.
	detach json.RawMessage
}

// owned says which of these names are parameters of the tool itself; such an
// argument is then the tool's.
type owned struct{ tab, browser, instance, detach bool }

// ownedBy looks into the schema of the arguments of a tool or prompt of p.
func ownedBy(schema json.RawMessage, p *plugin.Plugin) owned {
	return owned{
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

// splitArguments takes "tabId", "browser", "instance" and "_detach" out of a call's arguments, unless
// they are the tool's own. What is left keeps its bytes, so that large integers
// stay exact. texts is set for a prompt, all of whose arguments are texts. An
// error is a *dispatch.Error for the agent.
func splitArguments(raw json.RawMessage, own owned, texts bool) (arguments, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return arguments{tool: json.RawMessage("{}")}, nil
	}
	a := arguments{tool: raw}
	ours := map[string]bool{argTab: !own.tab, argBrowser: !own.browser, argInstance: !own.instance, argDetach: !own.detach}
	for name := range ours {
		ours[name] = ours[name] && bytes.Contains(raw, []byte(`"`+name+`"`))
	}
	if !ours[argTab] && !ours[argBrowser] && !ours[argInstance] && !ours[argDetach] {
		return a, nil
	}
	all, ok := membersOf(raw)
	if !ok {
		return a, nil // the tool's schema says what is wrong
	}
	kept := all[:0]
	for _, m := range all {
		if !ours[m.name] {
			kept = append(kept, m)
			continue
		}
		if string(m.value) == "null" {
			continue // says nothing
		}
		if err := a.take(m, texts); err != nil {
			return a, err
		}
	}
	if len(kept) < len(all) {
		a.tool = joinMembers(kept)
	}
	return a, nil
}

// take reads one of our arguments.
func (a *arguments) take(m member, texts bool) error {
	switch m.name {
	case argTab:
		text := string(m.value)
		if texts {
			text = strings.Trim(text, `"`)
		}
		id, err := strconv.ParseInt(text, 10, 32)
		if err != nil || id <= 0 {
			return badArgument(argTab, m.value, "the id of a tab, a positive integer")
		}
		a.tabID = int(id)
	case argBrowser:
		if json.Unmarshal(m.value, &a.browser) != nil || a.browser == "" {
			return badArgument(argBrowser, m.value, "the id or the name of a browser, a string that is not empty")
		}
	case argInstance:
		if json.Unmarshal(m.value, &a.instance) != nil || a.instance == "" {
			return badArgument(argInstance, m.value, "the name of an instance, a string that is not empty")
		}
	default:
		a.detach = m.value
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
