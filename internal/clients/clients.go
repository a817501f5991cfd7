// Package clients describes the limits and features of MCP clients, such as their timeouts and how many tools they can
// use. Clients do not send their limits over MCP, so the file table.go lists the known facts with their sources.
package clients

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SupportLevel is whether an MCP client has a feature: "yes", "no" or "unknown".
type SupportLevel string

// The value unverified means that no source mentions the feature, so opentabs treats it as unsupported.
const (
	supported   SupportLevel = "yes"
	unsupported SupportLevel = "no"
	unverified  SupportLevel = "unknown"
)

// UnlimitedTools is the value of [Profile.MaxListedTools] for a client without a limit on tools.
const UnlimitedTools = 0

// defaultToolCap is for unknown clients; common model APIs accept at most 128 tools.
const defaultToolCap = 128

// defaultTimeout is the default timeout of the official TypeScript SDK, the shortest of all widely used SDKs.
const defaultTimeout = 60 * time.Second

// Source is the web page that documents a fact about an MCP client.
type Source struct {
	URL string
	// Date is the day on which the page was written, such as 2026-08-05.
	Date string
}

// Profile describes an MCP client that has its default settings. Callers must not change a Profile.
type Profile struct {
	// Client is the client's display name, such as "Claude Code"; empty for unknown
	// clients.
	Client string
	// The field Names contains the names that the client sends as clientInfo.name; case is
	// ignored. A name that ends with a star, such as "windsurf*", matches all names that begin
	// with the text before the star.
	Names []string
	// FromVersion and BeforeVersion limit the client versions that the profile describes:
	// FromVersion <= version < BeforeVersion. An empty FromVersion or BeforeVersion means
	// no limit.
	FromVersion, BeforeVersion string
	// Timeout is how long the client waits for the result of a call over stdio; 0 means no limit.
	// HTTPTimeout is how long the client waits over HTTP; 0 means as long as over stdio.
	Timeout     time.Duration
	HTTPTimeout time.Duration
	// ProgressRestartsTimeout is true if each progress notification restarts the client's
	// timeout.
	ProgressRestartsTimeout bool
	// ShowsProgress is whether the client shows progress messages, and Images is whether it shows images in results.
	// ListChanged is whether the client reloads the list of tools when the list changes. Elicitation is whether the
	// client can show the user a form of the server. The capability that the client declares overrides Elicitation.
	ShowsProgress, Images, ListChanged, Elicitation SupportLevel
	// ReadsOnlyStructuredContent is true if the client reads the structured content of results, and
	// ignores text that repeats the structured content.
	ReadsOnlyStructuredContent bool
	// OutputSchemas is whether the client passes the output schemas of tools to its
	// model.
	OutputSchemas SupportLevel
	// MaxListedTools is the maximum number of tools that one MCP server should list for the client;
	// UnlimitedTools means no limit. If a client sends all tools to its model, MaxListedTools leaves room for
	// the tools of other MCP servers.
	MaxListedTools int
	// The field Defers is true if the client first gives its model only the names of tools. If
	// Defers is true, the client loads a tool's description when the model searches for the
	// tool.
	Defers bool
	// Note is a remark about the client for users, such as where its timeout comes from;
	// often empty.
	Note    string
	Sources []Source
}

// TransportTimeout returns how long the client waits for the response to a call, over HTTP if
// http is true, and otherwise over stdio.
func (p *Profile) TransportTimeout(http bool) Timeout {
	t := Timeout{Limit: p.Timeout, ProgressRestarts: p.ProgressRestartsTimeout}
	if http && p.HTTPTimeout > 0 {
		t.Limit = p.HTTPTimeout
	}
	return t
}

// IsKnown reports whether the profile describes a specific client. IsKnown returns false
// for the profile of unknown clients.
func (p *Profile) IsKnown() bool { return p.Client != "" }

// UsesOutputSchemas reports whether the client may use the output schemas of tools. It returns
// false only if a source states that the client ignores them.
func (p *Profile) UsesOutputSchemas() bool { return p.OutputSchemas != unsupported }

// Of returns the profile of the client with the given name and version. An unknown client
// gets a profile with a timeout of 60 s, which progress notifications do not restart. The
// caller must not change the returned profile.
func Of(name, version string) *Profile {
	name = strings.ToLower(strings.TrimSpace(name))
	for i := range table {
		if p := &table[i]; p.appliesToName(i, name) && p.appliesToVersion(version) {
			return p
		}
	}
	return &unknownClient
}

// lowerNames is computed only once, because every call looks up the profile of its client.
var lowerNames = sync.OnceValue(func() [][]string {
	names := make([][]string, len(table))
	for i, p := range table {
		for _, name := range p.Names {
			names[i] = append(names[i], strings.ToLower(name))
		}
	}
	return names
})

// Table returns the profiles of all known MCP clients, and as the last element the profile for
// unknown clients.
func Table() []Profile { return append(slices.Clone(table), unknownClient) }

func (p *Profile) appliesToName(i int, name string) bool {
	for _, pattern := range lowerNames()[i] {
		if prefix, isPrefixPattern := strings.CutSuffix(pattern, "*"); name == pattern || isPrefixPattern && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// A missing or malformed version counts as the oldest version.
func (p *Profile) appliesToVersion(version string) bool {
	return compareVersions(version, p.FromVersion) >= 0 && (p.BeforeVersion == "" || compareVersions(version, p.BeforeVersion) < 0)
}

// compareVersions ignores text that follows a number, so 1.0-beta equals 1.0.
func compareVersions(a, b string) int {
	return slices.CompareFunc(versionNumbers(a), versionNumbers(b), cmp.Compare[int])
}

func versionNumbers(version string) []int {
	var numbers []int
	for textPart := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".") {
		digits := textPart[:len(textPart)-len(strings.TrimLeft(textPart, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		numbers = append(numbers, n)
		if digits != textPart {
			break
		}
	}
	for len(numbers) > 0 && numbers[len(numbers)-1] == 0 {
		numbers = numbers[:len(numbers)-1]
	}
	return numbers
}
