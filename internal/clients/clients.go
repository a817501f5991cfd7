// Package clients knows how patient MCP clients are: how long each waits for
// the answer to a call, and what it shows meanwhile. A client says none of this
// itself, so it is a table with sources (table.go).
//
// Ask [Of] for the profile of one client; [Table] is all of them.
package clients

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Support says whether a client does something.
type Support string

// The values of Support. unverified counts as unsupported wherever something depends on it.
const (
	supported   Support = "yes"
	unsupported Support = "no"
	unverified  Support = "unknown"
)

// defaultTimeout is how long a client of which nothing is known is taken to
// wait: the default of the official TypeScript SDK, the shortest in wide use.
const defaultTimeout = 60 * time.Second

// Source is where a fact was read.
type Source struct {
	URL string
	// Date is when it was written there, as in 2026-08-05.
	Date string
}

// Profile is what is known of one client, as it is set up without a person's
// doing. It is a value that nobody changes.
type Profile struct {
	// Client is the client's name for people; empty for one that is not known.
	Client string
	// Names are what it calls itself (clientInfo.name), in any case; a star at
	// the end stands for any rest.
	Names []string
	// From and Before bound the versions that are meant: From <= version <
	// Before. An empty one is no bound.
	From, Before string
	// Timeout is how long it waits for the answer to a call over stdio; 0 is
	// without limit. HTTPTimeout is the same over HTTP, if it differs.
	Timeout     time.Duration
	HTTPTimeout time.Duration
	// Resets says that each progress notification begins the timeout anew.
	Resets bool
	// ShowsProgress, Images, ListChanged and Elicitation say whether it shows
	// the messages of progress and the pictures of results, asks for the tools
	// again when they changed, and lets a server ask the person by a form. What
	// a client declares when it connects wins over Elicitation.
	ShowsProgress, Images, ListChanged, Elicitation Support
	// Note is a sentence about what the fields can't say; mostly empty.
	Note    string
	Sources []Source
}

// WaitLimit returns how long the client waits for a call without progress; 0 means no limit.
func (p Profile) WaitLimit(http bool) time.Duration {
	if http && p.HTTPTimeout > 0 {
		return p.HTTPTimeout
	}
	return p.Timeout
}

// Of returns the profile of the client that calls itself so. One that is not
// in the table gets cautious values: DefaultTimeout, which nothing resets.
func Of(name, version string) Profile {
	for _, p := range table {
		if p.has(name) && p.covers(version) {
			return p
		}
	}
	return unknown
}

// Table returns all profiles; the last is that of clients not in the table.
func Table() []Profile { return append(slices.Clone(table), unknown) }

// has reports whether a client of this name is meant.
func (p Profile) has(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return slices.ContainsFunc(p.Names, func(pattern string) bool {
		pattern = strings.ToLower(pattern)
		if rest, ok := strings.CutSuffix(pattern, "*"); ok {
			return strings.HasPrefix(name, rest)
		}
		return name == pattern
	})
}

// covers reports whether a client of this version is meant. A version that is
// not given or can't be read counts as an old one.
func (p Profile) covers(version string) bool {
	return compare(version, p.From) >= 0 && (p.Before == "" || compare(version, p.Before) < 0)
}

// compare compares two versions by their numbers, as in 2.1.187; what follows
// a number, as in 1.0-beta, does not count.
func compare(a, b string) int {
	return slices.CompareFunc(numbers(a), numbers(b), cmp.Compare[int])
}

// numbers returns the numbers of a version without the zeros at its end.
func numbers(version string) []int {
	var all []int
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".") {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		all = append(all, n)
		if digits != part {
			break
		}
	}
	for len(all) > 0 && all[len(all)-1] == 0 {
		all = all[:len(all)-1]
	}
	return all
}
