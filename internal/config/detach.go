package config

import (
	"strings"
	"time"
)

// Detach is the setting for when a running call returns the handle of a job, so that
// its client need not wait. Detach is "auto", "never" or a time such as "20s" for all
// clients, then exceptions, as in "never, claude-code=auto, Cursor=20s". A client's
// name is the name that the client sends, in any case.
type Detach string

// detachAuto and detachNever are the values of a Detach that are not times.
const (
	detachAuto  = "auto"
	detachNever = "never"
)

// maxDetach is the longest time that a Detach can have.
const maxDetach = 24 * time.Hour

// DetachRule is the value of a Detach for one client. The zero value of a DetachRule
// means that calls are never detached.
type DetachRule struct {
	// Auto is set if calls are detached before the client's timeout.
	Auto bool
	// After is the time from the arrival of a call until the call is detached; ignored
	// if 0.
	After time.Duration
}

// RuleFor returns the detach rule for the client with the given name.
func (d Detach) RuleFor(client string) DetachRule {
	defaultRule, byClient, _ := d.parseRules()
	if rule, ok := byClient[strings.ToLower(strings.TrimSpace(client))]; ok {
		return rule
	}
	return defaultRule
}

// IsNever reports whether no client's calls are detached.
func (d Detach) IsNever() bool {
	defaultRule, byClient, _ := d.parseRules()
	for _, rule := range byClient {
		if rule != (DetachRule{}) {
			return false
		}
	}
	return defaultRule == DetachRule{}
}

// parseRules parses a Detach and reports whether it is well formed.
func (d Detach) parseRules() (defaultRule DetachRule, byClient map[string]DetachRule, ok bool) {
	byClient = map[string]DetachRule{}
	for i, entry := range strings.Split(string(d), ",") {
		name, ruleText, hasName := strings.Cut(entry, "=")
		if i == 0 && !hasName {
			if defaultRule, ok = parseDetachRule(entry); !ok {
				return DetachRule{}, nil, false
			}
			continue
		}
		rule, isValid := parseDetachRule(ruleText)
		name = strings.ToLower(strings.TrimSpace(name))
		if _, isRepeated := byClient[name]; !hasName || !isValid || name == "" || isRepeated {
			return DetachRule{}, nil, false
		}
		byClient[name] = rule
	}
	return defaultRule, byClient, true
}

func parseDetachRule(ruleText string) (DetachRule, bool) {
	switch ruleText = strings.TrimSpace(ruleText); ruleText {
	case detachAuto:
		return DetachRule{Auto: true}, true
	case detachNever:
		return DetachRule{}, true
	}
	delay, err := time.ParseDuration(ruleText)
	return DetachRule{After: delay}, err == nil && delay > 0 && delay <= maxDetach
}
