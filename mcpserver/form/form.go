// Package form builds the approval forms that MCP clients show to their users, and parses
// the clients' answers.
//
// [Question.Build] returns the form for a suspended call. [Question.ParseAnswer] returns
// the user's decision from the client's answer.
package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/wire"
)

// MCP clients show these choices as plain texts, because all MCP versions with elicitation support lists of plain
// texts.
const (
	choiceOnce    = "allow once"
	choiceSession = "allow for this session"
	choiceDeny    = "deny"
)

const decisionField = "decision"

// The limits for the texts in an approval form are in characters.
const (
	maxArgsChars    = 600
	maxReasonChars  = 1000
	maxRequestChars = 100_000
)

// The form for browser_evaluate shows the complete arguments, because the user must see all code before approving it.
const evaluateToolName = "browser_evaluate"

// Question is the approval request of a suspended call, which a client shows to the user as a form.
type Question struct {
	dispatch.WaitingTicket
}

// Form contains the parameters of an elicitation/create request for a form. Form has no
// member "mode", because protocol version 2025-06-18 has no modes, and "form" is the
// default in later versions.
type Form struct {
	Message string     `json:"message"`
	Schema  formSchema `json:"requestedSchema"`
	Meta    Meta       `json:"_meta"`
}

// Meta identifies the call and the ticket of a form, for clients that read the call from
// opentabs, such as `opentabs call`.
type Meta struct {
	CallID   string `json:"opentabs/call"`
	TicketID string `json:"opentabs/ticket"`
}

// formSchema is the JSON Schema of a form.
type formSchema struct {
	Type       string               `json:"type"`
	Properties map[string]formField `json:"properties"`
	Required   []string             `json:"required,omitempty"`
}

// formField is a field of a form in which the user selects one of several texts.
type formField struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
}

// Build returns the approval form in which the MCP client shows the question to its user.
func (q Question) Build() Form {
	f := Form{
		Message: q.messageText(), Schema: formSchema{Type: "object", Properties: map[string]formField{}},
		Meta: Meta{CallID: q.CallID, TicketID: q.TicketID},
	}
	if q.Kind == wire.TicketPermission {
		f.Schema.Required = []string{decisionField}
		f.Schema.Properties[decisionField] = formField{
			Type: "string", Title: "Decision", Description: q.scopeSentence() + "Declining denies the call, too.", Enum: q.choiceNames(),
		}
	}
	return f
}

// scopeSentence describes the calls to which an approval applies: those of a plugin, those on the site of a browser
// tool, or both.
func (q Question) scopeSentence() string {
	isFromPlugin := q.Caller != nil
	site := ""
	if q.Title != "" && slices.Contains(q.Scopes, wire.ScopeSession) {
		site = " on " + escapeForUser(q.Title, maxReasonChars)
	}
	switch {
	case isFromPlugin:
		return fmt.Sprintf("It applies to calls that the plugin %s makes%s, not to those of your agent. ", q.Caller.Plugin, site)
	case site != "":
		return fmt.Sprintf("For this session, it applies to later calls%s. ", site)
	}
	return ""
}

// Approvals for longer than a session are possible only on the surfaces of opentabs itself.
func (q Question) choiceNames() []string {
	if slices.Contains(q.Scopes, wire.ScopeSession) {
		return []string{choiceOnce, choiceSession, choiceDeny}
	}
	return []string{choiceOnce, choiceDeny}
}

func (q Question) messageText() string {
	var b strings.Builder
	if q.Kind == wire.TicketUser {
		fmt.Fprintf(&b, "%s is waiting for you", q.Tool)
		if q.Title != "" {
			fmt.Fprintf(&b, " (%s)", escapeForUser(q.Title, maxReasonChars))
		}
		fmt.Fprintf(&b, ": %s\nAccept when it is done. Decline to give up.", escapeForUser(q.Reason, maxReasonChars))
		return b.String()
	}
	fmt.Fprintf(&b, "May %s run in your browser?", q.Tool)
	if q.Reason != "" {
		fmt.Fprintf(&b, "\n%s", escapeForUser(q.Reason, maxRequestChars))
	}
	shownArgs := maxArgsChars
	if q.Tool == evaluateToolName {
		shownArgs = wire.MaxShownArgsBytes
	}
	fmt.Fprintf(&b, "\nArguments: %s", escapeForUser(q.Args, shownArgs))
	return b.String()
}

// ProgressMessage returns the progress message for a call that is waiting for the user.
func (q Question) ProgressMessage() string {
	const whereToDecideText = " (in the side panel of opentabs, or with `opentabs calls` in a terminal)"
	if q.Kind == wire.TicketUser {
		return "waiting for the user: " + escapeForUser(q.Reason, maxReasonChars) + whereToDecideText
	}
	return "waiting for approval: may " + q.Tool + " run?" + whereToDecideText
}

// EscapeReason escapes characters in a reason that could mislead the user.
func EscapeReason(reasonText string) string { return escapeForUser(reasonText, maxReasonChars) }

// escapeForUser returns text of an agent or page as one line of at most limit characters, without hidden characters.
func escapeForUser(sourceText string, limit int) string {
	escape := func(r rune) string { return strings.Trim(strconv.QuoteRuneToASCII(r), "'") }
	line := strings.NewReplacer("\n", " ", "\t", " ", "\r", " ").Replace(strings.ToValidUTF8(sourceText, "\ufffd"))
	var b strings.Builder
	n := 0
	for i, r := range line {
		if n == limit {
			fmt.Fprintf(&b, "... (%d more characters)", utf8.RuneCountInString(line[i:]))
			break
		}
		n++
		if r != ' ' && unicode.In(r, unicode.Zs, unicode.Co) { // the character resembles a space, or has no standard glyph
			b.WriteString(escape(r))
			continue
		}
		b.WriteRune(r)
	}
	return plaintext.Replace(b.String(), escape)
}

// ParseAnswer returns the decision in the client's answer to a form, which is the result of
// elicitation/create. If the user closed the form without a decision, ParseAnswer returns
// false. If the client's answer is invalid, ParseAnswer returns an error.
func (q Question) ParseAnswer(toolResult json.RawMessage) (dispatch.Resolution, bool, error) {
	var a struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(toolResult, &a); err != nil {
		return dispatch.Resolution{}, false, fmt.Errorf("it is not an ElicitResult: %w", err)
	}
	switch a.Action {
	case "decline":
		return dispatch.Resolution{}, true, nil
	case "cancel":
		return dispatch.Resolution{}, false, nil
	case "accept":
	default:
		return dispatch.Resolution{}, false, fmt.Errorf("its action is %q, not accept, decline or cancel", a.Action)
	}
	if q.Kind == wire.TicketUser {
		return dispatch.Resolution{Allow: true, Scope: wire.ScopeOnce}, true, nil
	}
	var formContent struct {
		Decision string `json:"decision"`
	}
	if json.Unmarshal(a.Content, &formContent) != nil || !slices.Contains(q.choiceNames(), formContent.Decision) {
		// Some MCP clients accept a form without showing the form to the user.
		return dispatch.Resolution{}, false, fmt.Errorf("it accepts, but its %s is none of %q", decisionField, q.choiceNames())
	}
	switch formContent.Decision {
	case choiceOnce:
		return dispatch.Resolution{Allow: true, Scope: wire.ScopeOnce}, true, nil
	case choiceSession:
		return dispatch.Resolution{Allow: true, Scope: wire.ScopeSession}, true, nil
	default:
		return dispatch.Resolution{}, true, nil
	}
}
