package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"opentabs/dispatch"
	"opentabs/wire"
)

// The arguments that every call may have beside those of its tool; the last only
// where calls may become jobs.
const (
	argTab     = "tabId"
	argBrowser = "browser"
	argDetach  = "_detach"
)

// arguments are the arguments of one call.
type arguments struct {
	// tool is what the tool gets, a JSON object.
	tool json.RawMessage
	// tabID and browser say where to run; zero if the client did not.
	tabID   int
	browser string
	// detach is what the client said of it, nil if nothing.
	detach json.RawMessage
}

// owned says which of these names are parameters of the tool itself; such an
// argument is then the tool's.
type owned struct{ tab, browser, detach bool }

// ownedBy looks into the schema of a tool's or prompt's arguments.
func ownedBy(schema json.RawMessage) owned {
	return owned{
		tab: definesProperty(schema, argTab), browser: definesProperty(schema, argBrowser), detach: definesProperty(schema, argDetach),
	}
}

// splitArguments takes "tabId", "browser" and "_detach" out of a call's arguments, unless
// they are the tool's own. What is left keeps its bytes, so that large integers
// stay exact. texts is set for a prompt, all of whose arguments are texts. An
// error is a *dispatch.Error for the agent.
func splitArguments(raw json.RawMessage, own owned, texts bool) (arguments, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return arguments{tool: json.RawMessage("{}")}, nil
	}
	a := arguments{tool: raw}
	takesTab := !own.tab && bytes.Contains(raw, []byte(`"`+argTab+`"`))
	takesBrowser := !own.browser && bytes.Contains(raw, []byte(`"`+argBrowser+`"`))
	takesDetach := !own.detach && bytes.Contains(raw, []byte(`"`+argDetach+`"`))
	if !takesTab && !takesBrowser && !takesDetach {
		return a, nil
	}
	all, ok := membersOf(raw)
	if !ok {
		return a, nil // the tool's schema says what is wrong
	}
	kept := all[:0]
	for _, m := range all {
		given := string(m.value) != "null"
		switch {
		case m.name == argTab && takesTab && given:
			text := string(m.value)
			if texts {
				text = strings.Trim(text, `"`)
			}
			id, err := strconv.ParseInt(text, 10, 32)
			if err != nil || id <= 0 {
				return a, badArgument(argTab, m.value, "the id of a tab, a positive integer")
			}
			a.tabID = int(id)
		case m.name == argBrowser && takesBrowser && given:
			if json.Unmarshal(m.value, &a.browser) != nil || a.browser == "" {
				return a, badArgument(argBrowser, m.value, "the id or the name of a browser, a string that is not empty")
			}
		case m.name == argDetach && takesDetach && given:
			a.detach = m.value
		case m.name == argTab && takesTab, m.name == argBrowser && takesBrowser, m.name == argDetach && takesDetach:
			// null says nothing
		default:
			kept = append(kept, m)
		}
	}
	if len(kept) < len(all) {
		a.tool = joinMembers(kept)
	}
	return a, nil
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
