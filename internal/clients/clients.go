// Package clients has facts about MCP clients: their timeouts, what they show while a
// call runs, and how many tools they can use. Clients do not send these facts, so the
// file table.go lists the facts with their sources.
//
// [Of] returns the profile of one client, [Table] returns all profiles.
// [GiveUp.InferTimeout] infers the timeout of a client that gave up a call.
package clients

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Support is whether a client has a feature.
type Support string

// supported, unsupported and unverified are the values of Support. unverified counts as
// unsupported in every decision.
const (
	supported   Support = "yes"
	unsupported Support = "no"
	unverified  Support = "unknown"
)

// NoToolCap is the ToolCap of a client without a limit.
const NoToolCap = 0

// defaultToolCap is the ToolCap of unknown clients: the limit of common model APIs.
const defaultToolCap = 128

// defaultTimeout is the timeout that an unknown client probably has. The official
// TypeScript SDK has this default, the shortest default of the widely used SDKs.
const defaultTimeout = 60 * time.Second

// Source is a web page that a fact comes from.
type Source struct {
	URL string
	// Date is when the page was written, as in 2026-08-05.
	Date string
}

// Profile describes one client with its default settings. Profiles are immutable.
type Profile struct {
	// Client is the client's display name; empty for unknown clients.
	Client string
	// Names are the names that the client sends (clientInfo.name), in any case. A
	// star at the end matches any text.
	Names []string
	// FromVersion and BeforeVersion are the range of versions: FromVersion <= version < BeforeVersion. An empty
	// FromVersion or BeforeVersion means no limit.
	FromVersion, BeforeVersion string
	// Timeout is how long the client waits for the result of a call over stdio; 0 means
	// no limit. HTTPTimeout is the timeout over HTTP, if it differs from Timeout.
	Timeout     time.Duration
	HTTPTimeout time.Duration
	// ProgressRestartsTimeout is true if each progress notification restarts the timeout.
	ProgressRestartsTimeout bool
	// ShowsProgress and Images are whether the client shows progress messages and
	// images in results. ListChanged is whether the client reloads the list of tools
	// when the list changes. Elicitation is whether a server can show the user a form;
	// the capabilities that a client declares override Elicitation.
	ShowsProgress, Images, ListChanged, Elicitation Support
	// StructuredOnly is set if the client uses the structured content of a result and
	// ignores the text that repeats it.
	StructuredOnly bool
	// OutputSchemas is whether the client uses the output schemas of tools.
	OutputSchemas Support
	// ToolCap is the greatest number of tools that the list of one server should have;
	// NoToolCap means no limit. The list of a client that sends all tools to its model
	// must leave room for the tools of other servers.
	ToolCap int
	// Defers is set if the client loads only the names of tools, and the rest of a tool
	// when the model searches for it.
	Defers bool
	// Note has facts about a client that no other field of Profile covers; often empty.
	Note    string
	Sources []Source
}

// TimeoutOver returns how long the client waits for the answer to a call, over HTTP or
// over stdio.
func (p *Profile) TimeoutOver(http bool) Timeout {
	t := Timeout{Limit: p.Timeout, ProgressRestarts: p.ProgressRestartsTimeout}
	if http && p.HTTPTimeout > 0 {
		t.Limit = p.HTTPTimeout
	}
	return t
}

// IsKnown reports whether the table of known clients contains the client.
func (p *Profile) IsKnown() bool { return p.Client != "" }

// UsesOutputSchemas reports whether the client may use the output schemas of tools.
func (p *Profile) UsesOutputSchemas() bool { return p.OutputSchemas != unsupported }

// Of returns the profile of the client with the given name and version. A client that is
// not in the table gets defaultTimeout, and progress notifications do not restart this
// timeout. The caller must not change the profile.
func Of(name, version string) *Profile {
	name = strings.ToLower(strings.TrimSpace(name))
	for i := range table {
		if p := &table[i]; p.appliesToName(i, name) && p.appliesToVersion(version) {
			return p
		}
	}
	return &unknownClient
}

// lowerNames are the lower-case names of the clients in the table, by the index of their
// profile. They are computed once, because every call needs the profile of its client.
var lowerNames = sync.OnceValue(func() [][]string {
	names := make([][]string, len(table))
	for i, p := range table {
		for _, name := range p.Names {
			names[i] = append(names[i], strings.ToLower(name))
		}
	}
	return names
})

// Table returns the profiles of all MCP clients. The last profile is that of unknown
// clients.
func Table() []Profile { return append(slices.Clone(table), unknownClient) }

// appliesToName reports whether profile i of the table applies to a client with the given
// lower-case name.
func (p *Profile) appliesToName(i int, name string) bool {
	for _, pattern := range lowerNames()[i] {
		if prefix, isPrefix := strings.CutSuffix(pattern, "*"); name == pattern || isPrefix && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// appliesToVersion reports whether the profile applies to clients of the given version.
// A version that is missing or malformed counts as the oldest.
func (p *Profile) appliesToVersion(version string) bool {
	return compareVersions(version, p.FromVersion) >= 0 && (p.BeforeVersion == "" || compareVersions(version, p.BeforeVersion) < 0)
}

// compareVersions compares two versions by their numbers, as in 2.1.187. compareVersions ignores text
// after a number, as in 1.0-beta.
func compareVersions(a, b string) int {
	return slices.CompareFunc(versionNumbers(a), versionNumbers(b), cmp.Compare[int])
}

// versionNumbers returns the numbers of a version without the zeros at its end.
func versionNumbers(version string) []int {
	var numbers []int
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".") {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		numbers = append(numbers, n)
		if digits != part {
			break
		}
	}
	for len(numbers) > 0 && numbers[len(numbers)-1] == 0 {
		numbers = numbers[:len(numbers)-1]
	}
	return numbers
}
