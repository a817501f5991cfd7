package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"opentabs/internal/jsonread"
	"opentabs/internal/lazyregexp"
	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
	"opentabs/internal/statedoc"
)

// SiteRule is the user's rule for browser tools on a site.
type SiteRule string

const (
	// SiteOff blocks all browser tools on the site.
	SiteOff SiteRule = "off"
	// SiteRead allows browser tools that only read, and blocks all others.
	SiteRead SiteRule = "read"
	// SiteAsk allows browser tools after the user's approval of each call.
	SiteAsk SiteRule = "ask"
	// SiteAuto allows browser tools without an approval.
	SiteAuto SiteRule = "auto"
)

// SiteEntry contains the permissions of one site in permissions.json.
type SiteEntry struct {
	// Rule is the user's rule for browser tools on the site. The field Rule is empty if
	// only Allowed is set.
	Rule SiteRule `json:"permission,omitempty"`
	// The field Allowed lists the clients that the user always allows to use the site
	// without an approval.
	Allowed []SiteAllowed `json:"allowed,omitempty"`
	ChangeOrigin
}

// SiteAllowed is the user's permission for one client to always use a site.
type SiteAllowed struct {
	// Client is the identity of the MCP client. Class is what the client may always do on
	// the site: "read", "act", or the name of one dangerous tool.
	Client string `json:"client"`
	Class  string `json:"class"`
	ChangeOrigin
}

// anySitePattern is the site pattern that matches every site.
const anySitePattern = "*"

// sitePattern matches a host, or "*." and a host, each with an optional port.
var sitePattern = lazyregexp.New(`^(\*\.)?(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*)(:[0-9]{1,5})?$`)

// ParseSite returns the pattern of a site that the user typed. A pattern is a host such
// as shop.example, or shop.example:8080 for one port, or *.example.com for a host and all
// its subdomains, or * for all sites. If the user typed a URL, ParseSite uses only its
// host.
func ParseSite(siteText string) (string, error) {
	pattern := strings.ToLower(strings.TrimSpace(siteText))
	if u, err := url.Parse(pattern); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		pattern = u.Host
	}
	pattern = canonicalIPv6(strings.TrimSuffix(pattern, "/"))
	if pattern == anySitePattern || len(pattern) <= 255 && sitePattern().MatchString(pattern) {
		return pattern, nil
	}
	return "", fmt.Errorf("%q is no site: write a host such as shop.example, shop.example:8080 for one port, *.example.com for a host with its subdomains, or * for all sites", siteText)
}

// canonicalIPv6 shortens an IPv6 address in a pattern, because browsers write such addresses in their short form.
func canonicalIPv6(pattern string) string {
	text, port, isIPv6 := strings.Cut(strings.TrimPrefix(pattern, "["), "]")
	addr, err := netip.ParseAddr(text)
	if err != nil || !isIPv6 || !strings.HasPrefix(pattern, "[") {
		return pattern
	}
	return "[" + addr.String() + "]" + port
}

// ParseSiteRule parses a rule that the user typed: "off", "read", "ask" or "auto".
func ParseSiteRule(siteRule string) (SiteRule, error) {
	switch r := SiteRule(siteRule); r {
	case SiteOff, SiteRead, SiteAsk, SiteAuto:
		return r, nil
	}
	return "", fmt.Errorf("%q is not a permission of a site: use off, read, ask or auto", siteRule)
}

// Sites are the user's rules for browser tools, by site. Sites is safe for concurrent
// use.
type Sites struct{ policy *Policy }

// NewSites returns the rules for browser tools that the user has set in the policy p.
func NewSites(p *Policy) Sites { return Sites{p} }

// All returns the permissions of all sites, by pattern. The caller must not change the
// map that All returns.
func (s Sites) All() map[string]SiteEntry { return s.policy.file.Current().View.sites }

// RecheckGates makes the gates decide again about all calls that wait for approval. Call
// RecheckGates after the user has approved a call.
func (s Sites) RecheckGates() { go s.policy.file.NotifyListeners() }

// RecordDecision records the user's decision about a call of a browser tool in the audit log.
func (s Sites) RecordDecision(c Change) { s.policy.opts.RecordChange(c) }

// RuleFor returns the pattern and the permissions of the rule that applies to an http or
// https URL. If several site patterns match the URL, the most specific pattern applies.
// If no site pattern matches the URL, RuleFor returns an empty pattern.
func (s Sites) RuleFor(address string) (pattern string, siteEntry SiteEntry) {
	sites := s.All()
	for _, pattern := range sitePatterns(address) {
		if siteEntry, ok := sites[pattern]; ok && siteEntry.Rule != "" {
			return pattern, siteEntry
		}
	}
	return "", SiteEntry{}
}

func sitePatterns(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return []string{anySitePattern}
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	suffixes := []string{host}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
		suffixes = []string{host}
	} else {
		for parentDomain := host; ; {
			_, parent, ok := strings.Cut(parentDomain, ".")
			if !ok {
				break
			}
			suffixes, parentDomain = append(suffixes, parent), parent
		}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	patterns := []string{host + ":" + port, host}
	for _, suffix := range suffixes {
		patterns = append(patterns, "*."+suffix+":"+port, "*."+suffix)
	}
	return append(patterns, anySitePattern)
}

// IsSiteExact reports whether a site pattern names one host without a wildcard.
func IsSiteExact(pattern string) bool { return pattern != "" && !strings.HasPrefix(pattern, "*") }

// Set sets the rule of a site. If rule is empty, Set removes the site's rule. Set removes the list of clients that are
// allowed to always use the site. If site has no port, Set removes the always-allowed clients of the site for all ports
// of the host. The argument by is the surface on which the user made the change.
func (s Sites) Set(site string, rule SiteRule, by string) error {
	pattern, err := ParseSite(site)
	if err != nil {
		return err
	}
	policyChange := Change{Kind: "site", Site: pattern, New: string(rule), By: by}
	return s.policy.changeFile(&policyChange, func(document *statedoc.Plugins) {
		removeEquivalentSites(document, pattern)
		editSite(document, pattern, func(entry statedoc.Object) {
			statedoc.DecodeInto(entry["permission"], &policyChange.Old)
			clear(entry)
			// The site's entry keeps the origin of the last change, even if the change removes the site's rule. A
			// process that reads a new origin for a site ends the approvals for the site that the process has in
			// memory.
			setChangeOrigin(entry, by)
			if rule != "" {
				entry.Put("permission", rule)
			}
		})
		for otherSite := range document.TopLevel.Child("sites") {
			if strings.HasPrefix(otherSite, pattern+":") {
				editSite(document, otherSite, func(entry statedoc.Object) { delete(entry, "allowed") })
			}
		}
	})
}

// Allow stores a permanent permission: the client may use the site (host and port) of an
// http or https URL.
func (s Sites) Allow(address, client, class, by string) error {
	pattern, err := ParseSite(sitePatterns(address)[0])
	if err != nil {
		return err
	}
	if problemText := plaintext.CheckDisplayText(client); problemText != "" {
		return fmt.Errorf("the client's name %s", problemText)
	}
	return s.policy.file.Change(func(document *statedoc.Plugins) error {
		editSite(document, pattern, func(entry statedoc.Object) {
			var allowedEntries []json.RawMessage
			statedoc.DecodeInto(entry["allowed"], &allowedEntries)
			newEntry := statedoc.Object{}
			newEntry.Put("client", client)
			newEntry.Put("class", class)
			setChangeOrigin(newEntry, by)
			allowedEntries = append(allowedEntries, rawjson.Encode(newEntry))
			entry.Put("allowed", allowedEntries[max(0, len(allowedEntries)-maxToolGrants):])
		})
		return nil
	})
}

func editSite(document *statedoc.Plugins, pattern string, change func(entry statedoc.Object)) {
	sites := document.TopLevel.Child("sites")
	entry := sites.Child(pattern)
	change(entry)
	sites.Put(pattern, entry)
	document.TopLevel.Put("sites", sites)
}

// removeEquivalentSites removes entries that the user has written by hand in another form, such as SHOP.example, because
// they would still apply.
func removeEquivalentSites(doc *statedoc.Plugins, pattern string) {
	sites := doc.TopLevel.Child("sites")
	for name := range sites {
		if parsedPattern, err := ParseSite(name); err == nil && parsedPattern == pattern && name != pattern {
			delete(sites, name)
		}
	}
	doc.TopLevel.Put("sites", sites)
}

// IsAlwaysAllowed reports whether the user has allowed a client to always use the exact
// site of a URL. The argument class is what the client wants to do; see [SiteAllowed].
func (s Sites) IsAlwaysAllowed(address, client, class string) bool {
	sites := s.All()
	return slices.ContainsFunc(sitePatterns(address), func(pattern string) bool {
		return IsSiteExact(pattern) && slices.ContainsFunc(sites[pattern].Allowed, func(a SiteAllowed) bool {
			return a.Client == client && (a.Class == class || a.Class == "act" && class == "read")
		})
	})
}

// If the rule of a site is invalid, browser tools are off on the site.
func readSites(policyObject statedoc.Object, addProblem func(string)) map[string]SiteEntry {
	sites := map[string]SiteEntry{}
	if rawJSON, ok := policyObject["sites"]; ok && rawjson.KindOf(rawJSON) != rawjson.KindObject {
		addProblem("sites is " + rawjson.KindOf(rawJSON) + "; all sites are off until it is an object")
		return map[string]SiteEntry{anySitePattern: {Rule: SiteOff}}
	}
	sitesMember := policyObject.Child("sites")
	for _, name := range slices.Sorted(maps.Keys(sitesMember)) {
		problems := &jsonread.Problems{File: "sites." + name}
		entry := readSite(sitesMember[name], problems)
		pattern, err := ParseSite(name)
		existingEntry, isRepeated := sites[pattern]
		switch {
		case err != nil:
			problems.Add("is no site; the entry has no effect")
		case isRepeated: // a user who writes permissions.json by hand may name one site twice
			problems.Add("is another name of %s, which has an entry too; the stricter permission applies", pattern)
			sites[pattern] = stricterEntry(entry, existingEntry)
		default:
			sites[pattern] = entry
		}
		for _, invalidField := range problems.List {
			addProblem(invalidField.String())
		}
	}
	return sites
}

func stricterEntry(a, b SiteEntry) SiteEntry {
	rulesByStrictness := []SiteRule{SiteOff, SiteRead, SiteAsk, SiteAuto, ""}
	stricterResult := a
	if slices.Index(rulesByStrictness, b.Rule) < slices.Index(rulesByStrictness, a.Rule) {
		stricterResult = b
	}
	stricterResult.Allowed = nil
	return stricterResult
}

func readSite(rawJSON json.RawMessage, problems *jsonread.Problems) SiteEntry {
	siteJSON, problemText := rawjson.Compact(rawJSON, nil)
	if problemText != "" || rawjson.KindOf(siteJSON) != rawjson.KindObject {
		problems.Add("is no object; the site is off")
		return SiteEntry{Rule: SiteOff}
	}
	f := jsonread.New(siteJSON, "", problems)
	siteEntry := SiteEntry{ChangeOrigin: readChangeOrigin(f)}
	if f.Has("permission") {
		rule, err := ParseSiteRule(f.OptionalText("permission"))
		if err != nil {
			f.Add("permission", "is wrong, so the site is off: %v", err)
			rule = SiteOff
		}
		siteEntry.Rule = rule
	}
	for _, rawJSON := range rawjson.Elements(f.Members["allowed"]) {
		allowedEntries := jsonread.New(rawJSON, f.Path+"allowed.", problems)
		client, hasClient := allowedEntries.TextOrFalse("client")
		class, hasToolClass := allowedEntries.TextOrFalse("class")
		if hasClient && hasToolClass && client != "" {
			siteEntry.Allowed = append(siteEntry.Allowed, SiteAllowed{Client: client, Class: class, ChangeOrigin: readChangeOrigin(allowedEntries)})
		}
	}
	return siteEntry
}
