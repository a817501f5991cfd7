package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/wire"
)

// The choices of the form for a permission, as the person reads them. Every
// protocol version with elicitation has an enum of plain texts.
const (
	chooseOnce    = "allow once"
	chooseSession = "allow for this session"
	chooseDeny    = "deny"
)

// decisionField is the form's only field.
const decisionField = "decision"

// shownArgs is how much of the arguments the form shows, in characters, and
// shownReason how much of a tool's own words.
const (
	shownArgs   = 600
	shownReason = 1000
)

// question is what a suspended call waits for, as its client may put it before
// the person.
type question struct {
	dispatch.Waiting
}

// elicitation are the params of elicitation/create in the mode "form". The mode
// is left out: 2025-06-18 does not know it, later versions mean the form.
type elicitation struct {
	Message string     `json:"message"`
	Schema  formSchema `json:"requestedSchema"`
}

// formSchema is the JSON Schema of a form.
type formSchema struct {
	Type       string               `json:"type"`
	Properties map[string]formField `json:"properties"`
	Required   []string             `json:"required,omitempty"`
}

// formField is a choice of texts.
type formField struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
}

// form returns what the client should show.
func (q question) form() elicitation {
	f := elicitation{Message: q.message(), Schema: formSchema{Type: "object", Properties: map[string]formField{}}}
	if q.Kind == wire.TicketPermission {
		f.Schema.Required = []string{decisionField}
		f.Schema.Properties[decisionField] = formField{
			Type: "string", Title: "Decision", Description: q.holdsFor() + "Declining denies the call, too.", Enum: q.choices(),
		}
	}
	return f
}

// holdsFor says for which calls a permission holds that lasts longer; empty for a
// call of the client itself.
func (q question) holdsFor() string {
	if q.Caller == nil {
		return ""
	}
	return fmt.Sprintf("It holds for calls that the plugin %s makes, not for your agent's own. ", q.Caller.Plugin)
}

// choices are what the person may choose from. A permission for longer than a
// session is given on a surface of opentabs only.
func (q question) choices() []string {
	if slices.Contains(q.Scopes, wire.ScopeSession) {
		return []string{chooseOnce, chooseSession, chooseDeny}
	}
	return []string{chooseOnce, chooseDeny}
}

// message is what the person reads above the form.
func (q question) message() string {
	var b strings.Builder
	if q.Kind == wire.TicketUser {
		fmt.Fprintf(&b, "%s waits for you", q.Tool)
		if q.Title != "" {
			fmt.Fprintf(&b, " (%s)", visible(q.Title, shownReason))
		}
		fmt.Fprintf(&b, ": %s\nAccept when it is done. Decline to give up.", visible(q.Reason, shownReason))
		return b.String()
	}
	fmt.Fprintf(&b, "May %s run in your browser?", q.Tool)
	if q.Reason != "" {
		fmt.Fprintf(&b, "\n%s", visible(q.Reason, shownReason))
	}
	fmt.Fprintf(&b, "\nArguments: %s", visible(q.Args, shownArgs))
	return b.String()
}

// waiting is the message of progress while the call waits for the person.
func (q question) waiting() string {
	what := "may " + q.Tool + " run?"
	if q.Kind == wire.TicketUser {
		what = visible(q.Reason, shownReason)
	}
	return "waiting for the person: " + what + " (in the side panel of opentabs, or with `opentabs calls` in a terminal)"
}

// visible makes a text that an agent or a page chose safe to show to a person
// who decides by it: on one line, with hidden characters spelled out, and not
// longer than so many characters.
func visible(text string, limit int) string {
	spell := func(r rune) string { return strings.Trim(strconv.QuoteRuneToASCII(r), "'") }
	line := strings.NewReplacer("\n", " ", "\t", " ", "\r", " ").Replace(strings.ToValidUTF8(text, "\ufffd"))
	var b strings.Builder
	n := 0
	for i, r := range line {
		if n == limit {
			fmt.Fprintf(&b, "... (%d more characters)", utf8.RuneCountInString(line[i:]))
			break
		}
		n++
		if r != ' ' && unicode.In(r, unicode.Zs, unicode.Co) { // looks like a space, or like nothing known
			b.WriteString(spell(r))
			continue
		}
		b.WriteRune(r)
	}
	return plaintext.Replace(b.String(), spell)
}

// answer reads what a client answered to the form: the result of an
// elicitation/create. It reports false if nothing was decided: the person
// closed the form, or the client sent something else than was asked for. An
// error says that the answer is none.
func (q question) answer(result json.RawMessage) (dispatch.Resolution, bool, error) {
	var a struct {
		Action  mcp.ElicitationResponseAction `json:"action"`
		Content json.RawMessage               `json:"content"`
	}
	if err := json.Unmarshal(result, &a); err != nil {
		return dispatch.Resolution{}, false, fmt.Errorf("it is no ElicitResult: %w", err)
	}
	switch a.Action {
	case mcp.ElicitationResponseActionDecline:
		return dispatch.Resolution{}, true, nil
	case mcp.ElicitationResponseActionCancel:
		return dispatch.Resolution{}, false, nil
	case mcp.ElicitationResponseActionAccept:
	default:
		return dispatch.Resolution{}, false, fmt.Errorf("its action is %q, not accept, decline or cancel", a.Action)
	}
	if q.Kind == wire.TicketUser {
		return dispatch.Resolution{Allow: true, Scope: wire.ScopeOnce}, true, nil
	}
	var filled struct {
		Decision string `json:"decision"`
	}
	if json.Unmarshal(a.Content, &filled) != nil || !slices.Contains(q.choices(), filled.Decision) {
		// Some clients accept by themselves, without asking anybody.
		return dispatch.Resolution{}, false, fmt.Errorf("it accepts, but its %s is none of %q", decisionField, q.choices())
	}
	switch filled.Decision {
	case chooseOnce:
		return dispatch.Resolution{Allow: true, Scope: wire.ScopeOnce}, true, nil
	case chooseSession:
		return dispatch.Resolution{Allow: true, Scope: wire.ScopeSession}, true, nil
	default:
		return dispatch.Resolution{}, true, nil
	}
}

// formCapability reports whether a client with this capability shows forms. One
// that names only other modes of elicitation does not.
func formCapability(c *mcp.ElicitationCapability) bool {
	return c != nil && (c.Form != nil || c.URL == nil)
}

// canElicit is formCapability for the capabilities as a client wrote them.
func canElicit(capabilities json.RawMessage) bool {
	var c struct {
		Elicitation *mcp.ElicitationCapability `json:"elicitation"`
	}
	return json.Unmarshal(capabilities, &c) == nil && formCapability(c.Elicitation)
}
