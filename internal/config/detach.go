package config

import "time"

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
	rules, _ := d.parseRules()
	return rules.ruleFor(client)
}

// IsNever reports whether no client's calls are detached.
func (d Detach) IsNever() bool {
	rules, _ := d.parseRules()
	for _, rule := range rules.byClient {
		if rule != (DetachRule{}) {
			return false
		}
	}
	return rules.defaultRule == DetachRule{}
}

// parseRules parses a Detach and reports whether it is well formed.
func (d Detach) parseRules() (perClient[DetachRule], bool) {
	return parsePerClient(string(d), parseDetachRule)
}

func parseDetachRule(ruleText string) (DetachRule, bool) {
	switch ruleText {
	case detachAuto:
		return DetachRule{Auto: true}, true
	case detachNever:
		return DetachRule{}, true
	}
	delay, err := time.ParseDuration(ruleText)
	return DetachRule{After: delay}, err == nil && delay > 0 && delay <= maxDetach
}
