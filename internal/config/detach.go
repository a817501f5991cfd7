package config

import "time"

// DetachSetting is the setting for when a running call becomes a job, so that its client need
// not wait for the result. A DetachSetting is "auto", "never" or a time such as "20s" for all
// clients. DetachSetting can also contain exceptions for single clients, as in "never,
// claude-code=auto, Cursor=20s". Client names are matched without regard to case.
type DetachSetting string

const (
	detachAuto  = "auto"
	detachNever = "never"
)

const maxDetachTime = 24 * time.Hour

// DetachRule is the rule of a [DetachSetting] for one client. With the zero DetachRule, calls
// never become jobs.
type DetachRule struct {
	// DetachesBeforeTimeout is true if a call becomes a job shortly before the client's timeout.
	DetachesBeforeTimeout bool
	// The field After is the running time after which a call becomes a job. If After is
	// zero, the running time does not turn a call into a job.
	After time.Duration
}

// RuleFor returns the rule for the client with the given name.
func (d DetachSetting) RuleFor(client string) DetachRule {
	rules, _ := d.parseRules()
	return rules.ruleFor(client)
}

// NeverDetaches reports whether the calls of all clients never become jobs.
func (d DetachSetting) NeverDetaches() bool {
	rules, _ := d.parseRules()
	for _, rule := range rules.clientRules {
		if rule != (DetachRule{}) {
			return false
		}
	}
	return rules.defaultRule == DetachRule{}
}

func (d DetachSetting) parseRules() (clientRuleSet[DetachRule], bool) {
	return parseClientRules(string(d), parseDetachRule)
}

func parseDetachRule(ruleText string) (DetachRule, bool) {
	switch ruleText {
	case detachAuto:
		return DetachRule{DetachesBeforeTimeout: true}, true
	case detachNever:
		return DetachRule{}, true
	}
	delay, err := time.ParseDuration(ruleText)
	return DetachRule{After: delay}, err == nil && delay > 0 && delay <= maxDetachTime
}
