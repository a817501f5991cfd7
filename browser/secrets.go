package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// secretsArgument is the argument that lists the kinds of secret fields into which a call is
// allowed to type. The page script checks the kind of the field again immediately before
// typing, because the page may have replaced the field after the approval.
const secretsArgument = "_secrets"

// typingArgs are the arguments of a tool that types text into fields.
type typingArgs struct {
	Target string `json:"target"`
	Fields []struct {
		Target string `json:"target"`
	} `json:"fields"`
}

func isTyping(tool string) bool {
	return tool == toolType || tool == toolFillForm || tool == toolPressKey
}

// If a wildcard rule with the value "auto" allows an acting call that types nothing, the gate checks all visible fields
// of the page.
func (s *siteGate) inspectionFor(targetChoice dispatch.TargetChoice) *wire.TabInspection {
	if targetChoice.TargetKind == dispatch.TargetBrowser || classOfTool(targetChoice.Tool, targetChoice.Args) == classRead {
		return nil
	}
	if !isTyping(targetChoice.Tool) {
		for pattern, siteEntry := range s.rules.All() {
			if siteEntry.Rule == policy.SiteAuto && !policy.IsSiteExact(pattern) {
				return &wire.TabInspection{}
			}
		}
		return nil
	}
	var args typingArgs
	_ = json.Unmarshal(targetChoice.Args, &args)
	inspection := &wire.TabInspection{Focused: targetChoice.Tool == toolPressKey}
	for _, field := range args.Fields {
		inspection.Refs = append(inspection.Refs, field.Target)
	}
	if args.Target != "" {
		inspection.Refs = append(inspection.Refs, args.Target)
	}
	return inspection
}

// If the page does not respond, showsSecrets returns true, because the page might show a secret field.
func showsSecrets(callInfo dispatch.CallInfo, address string) bool {
	target := callInfo.Target
	if target.Problem != "" || originOf(address) != originOf(target.URL) {
		return false
	}
	return target.Secrets == nil || len(target.Secrets.Shown) > 0
}

func typedSecretKinds(target dispatch.Target) []string {
	if target.Secrets == nil {
		return nil
	}
	return target.Secrets.Typed
}

func secretsNote(secrets *wire.SecretFields) string {
	if secrets == nil {
		return "; this page does not answer, so it may show a field for a password, a card or a code"
	}
	return "; this page shows " + describeSecretKinds(secrets.Shown)
}

// Each call that types into a secret field needs its own approval, even if a site rule allows
// acting calls.
func (s *siteGate) decideTyping(callInfo dispatch.CallInfo, site string) dispatch.Verdict {
	typedTexts := typedSecretKinds(callInfo.Target)
	title := secretTitle(site, typedTexts)
	if len(typedTexts) == 0 || s.isCallApproved(callInfo, title) {
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: title,
		Reason: fmt.Sprintf("%s wants to type into %s on %s (%s)", policy.RequesterText(callInfo), describeSecretKinds(typedTexts), site, callInfo.Tool.Name),
	}}
}

func secretTitle(site string, kinds []string) string { return site + ": " + describeSecretKinds(kinds) }

func describeSecretKinds(kinds []string) string {
	names := map[string]string{"password": "a password field", "card": "a card field", "code": "a field for a one-time code"}
	var kindTexts []string
	for _, kind := range kinds {
		kindTexts = append(kindTexts, names[kind])
	}
	return strings.Join(kindTexts, " and ")
}

// secretMask replaces secret text in arguments that users see.
const secretMask = "•••"

// The values of cookies, localStorage and sessionStorage are always masked. In a batch, all typed text is masked,
// because the gate does not check the fields into which a batch types.
func maskArgsForApproval(callInfo dispatch.CallInfo) json.RawMessage {
	target := callInfo.Target
	switch {
	case callInfo.Tool.Name == toolBatch:
		return maskSteps(callInfo.Args)
	case isTyping(callInfo.Tool.Name) && target.Secrets != nil && len(target.Secrets.Typed) == 0:
		return callInfo.Args
	}
	return maskArgs(callInfo.Tool.Name, callInfo.Args)
}

func maskSteps(args json.RawMessage) json.RawMessage {
	var steps []json.RawMessage
	for _, rawJSON := range rawjson.Elements(rawjson.Get(args, "steps")) {
		if tool := textArgument(rawJSON, "tool"); len(maskedArgNames(tool)) > 0 {
			rawJSON = setMember(removeMembers(rawJSON, "args"), "args", maskArgs(tool, rawjson.Get(rawJSON, "args")))
		}
		steps = append(steps, rawJSON)
	}
	return setMember(removeMembers(args, "steps"), "steps", rawjson.Encode(steps))
}

func maskedArgNames(tool string) []string {
	switch {
	case isTyping(tool):
		return []string{"text", "value", "key"}
	case tool == "browser_cookies" || tool == "browser_storage":
		return []string{"value"}
	}
	return nil
}

func maskArgs(tool string, args json.RawMessage) json.RawMessage {
	argsToMask := maskedArgNames(tool)
	if len(argsToMask) == 0 {
		return args
	}
	members := []rawjson.Member{}
	for m := range rawjson.Members(args) {
		switch {
		case slices.Contains(argsToMask, m.Key):
			m.Value = rawjson.Encode(secretMask)
		case m.Key == "fields":
			var fields []json.RawMessage
			for _, field := range rawjson.Elements(m.Value) {
				fields = append(fields, maskArgs(tool, field))
			}
			m.Value = rawjson.Encode(fields)
		}
		members = append(members, m)
	}
	return rawjson.JoinMembers(members)
}
