package config

import (
	"strings"
	"time"
)

// Detach says when a call that still runs is answered with the handle of a job,
// so that its client need not wait: "auto", "never" or a time such as "20s" for
// all clients, then what differs for some, as in "never, claude-code=auto,
// Cursor=20s". A client's name is the one it gives itself; case does not count.
type Detach string

// The words of a Detach beside times.
const (
	detachAuto  = "auto"
	detachNever = "never"
)

// maxDetach is the longest time of a Detach: no call runs longer.
const maxDetach = 24 * time.Hour

// DetachRule is what a Detach says of one client. The zero value is never.
type DetachRule struct {
	// Auto detaches before the client would give up.
	Auto bool
	// After detaches so long after the call came in, if it is positive.
	After time.Duration
}

// For returns what holds for the client of this name.
func (d Detach) For(client string) DetachRule {
	all, byClient, _ := d.parse()
	if rule, ok := byClient[strings.ToLower(strings.TrimSpace(client))]; ok {
		return rule
	}
	return all
}

// Never reports whether no client's calls are detached.
func (d Detach) Never() bool {
	all, byClient, _ := d.parse()
	for _, rule := range byClient {
		if rule != (DetachRule{}) {
			return false
		}
	}
	return all == DetachRule{}
}

// parse reads d and reports whether it is well formed.
func (d Detach) parse() (all DetachRule, byClient map[string]DetachRule, ok bool) {
	byClient = map[string]DetachRule{}
	for i, part := range strings.Split(string(d), ",") {
		name, word, named := strings.Cut(part, "=")
		if i == 0 && !named {
			if all, ok = detachRule(part); !ok {
				return DetachRule{}, nil, false
			}
			continue
		}
		rule, good := detachRule(word)
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := byClient[name]; !named || !good || name == "" || twice {
			return DetachRule{}, nil, false
		}
		byClient[name] = rule
	}
	return all, byClient, true
}

func detachRule(word string) (DetachRule, bool) {
	switch word = strings.TrimSpace(word); word {
	case detachAuto:
		return DetachRule{Auto: true}, true
	case detachNever:
		return DetachRule{}, true
	}
	after, err := time.ParseDuration(word)
	return DetachRule{After: after}, err == nil && after > 0 && after <= maxDetach
}
