package config

import "strings"

// clientRuleSet is a parsed setting with a rule for all clients and exceptions for single
// clients, such as "never, claude-code=auto, Cursor=20s".
type clientRuleSet[T any] struct {
	defaultRule T
	clientRules map[string]T // the keys are the names of clients in lower case
}

// A text with exceptions for single clients begins with the rule for all clients, as in "auto, Cursor=off".
func parseClientRules[T any](settingValue string, parseRule func(string) (T, bool)) (rules clientRuleSet[T], ok bool) {
	rules.clientRules = map[string]T{}
	for i, entry := range strings.Split(settingValue, ",") {
		name, ruleText, hasName := strings.Cut(entry, "=")
		if i == 0 && !hasName {
			if rules.defaultRule, ok = parseRule(strings.TrimSpace(entry)); !ok {
				return clientRuleSet[T]{}, false
			}
			continue
		}
		rule, isValid := parseRule(strings.TrimSpace(ruleText))
		name = strings.ToLower(strings.TrimSpace(name))
		if _, isRepeated := rules.clientRules[name]; !hasName || !isValid || name == "" || isRepeated {
			return clientRuleSet[T]{}, false
		}
		rules.clientRules[name] = rule
	}
	return rules, true
}

func (p clientRuleSet[T]) ruleFor(client string) T {
	if rule, ok := p.clientRules[strings.ToLower(strings.TrimSpace(client))]; ok {
		return rule
	}
	return p.defaultRule
}
