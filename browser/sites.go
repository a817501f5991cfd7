package browser

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// sessionGrantTime is the longest duration of a permission for a session.
const sessionGrantTime = 24 * time.Hour

// maxGrants is the maximum number of permissions in memory. The oldest is dropped first.
const maxGrants = 1000

// siteGate is the gate that decides on which sites browser tools may run. The rules of
// sites are in [policy.Sites]; approvals for a session or for some time are in memory.
type siteGate struct {
	rules policy.Sites
	tabs  *tabTable
	// ownAddress is the address of the daemon, host:port.
	ownAddress string
	// uploadFolders are the folders whose files may be uploaded.
	uploadFolders []string

	mu     sync.Mutex // guards all fields below
	grants []siteGrant
	// decided identifies the user's rules and "always" approvals of the last look.
	decided decidedRules
	// singleCalls are the sites that the user has approved for one call, by call ID,
	// until the call ends.
	singleCalls map[string][]string
}

// siteGrant is an approval for later calls of one client on one site.
type siteGrant struct {
	client  string // the identity of the client
	session string // empty for an approval for some time
	caller  string // the calling plugin; empty for a call of the client
	site    string // see siteOf
	class   class
	until   time.Time
}

var (
	_ dispatch.DecisionObserver = (*siteGate)(nil)
	_ dispatch.AfterHook        = (*siteGate)(nil)
)

// newSites returns the gate for the tabs of the clients.
func newSites(o Options, tabs *tabTable) *siteGate {
	s := &siteGate{rules: policy.SitesOf(o.Rules), tabs: tabs, ownAddress: o.OwnAddress, uploadFolders: o.UploadFolders, singleCalls: map[string][]string{}}
	s.forgetApprovals()
	o.Rules.OnChange(s.forgetApprovals)
	return s
}

// decidedRules is what the user has decided about sites.
type decidedRules struct {
	rules       string // all rules, with their times
	alwaysCount int
}

// forgetApprovals ends the approvals for sessions and times after the user has changed a
// rule, or has removed an approval "always". The user must be able to take back what
// was approved.
func (s *siteGate) forgetApprovals() {
	var now decidedRules
	entries := s.rules.All()
	for _, pattern := range slices.Sorted(maps.Keys(entries)) {
		entry := entries[pattern]
		now.alwaysCount += len(entry.Allowed)
		if entry.Rule != "" {
			now.rules += fmt.Sprintln(pattern, entry.Rule, entry.At)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.rules != s.decided.rules || now.alwaysCount < s.decided.alwaysCount {
		s.grants = nil
	}
	s.decided = now
}

// Name implements dispatch.Gate.
func (s *siteGate) Name() string { return "site" }

// Decide implements dispatch.Gate. Decide judges the address of the tab, or the address
// that the call wants to open.
func (s *siteGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	if callInfo.Tool.Plugin != Name {
		return dispatch.Verdict{}
	}
	if callInfo.Target == (dispatch.Target{}) { // the target is not chosen yet
		return dispatch.Verdict{}
	}
	args := siteArgsOf(callInfo)
	switch callInfo.Tool.Name {
	case toolBatch: // each step is judged for itself
		return dispatch.Verdict{}
	case toolTabs:
		return s.decideTabs(callInfo, args)
	case toolUpload: // the user approves only what can be uploaded
		for _, path := range args.Paths {
			if _, _, err := findUpload(path, s.uploadFolders); err != nil {
				return dispatch.NewBlockVerdict(wire.ErrDenied, "%v", err)
			}
		}
	case toolNavigate:
		switch {
		case (args.URL == "") == (args.Go == ""):
			return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, `browser_navigate takes either "url" or "go"`)
		case args.URL != "":
			if v := s.decideOpening(callInfo, args.URL); v.Block != nil || v.Suspend != nil {
				return v
			}
			// The user may lose work in a tab that the client did not open.
			if s.tabs.isOpenedByClient(callInfo) || siteOf(callInfo.Target.URL) == siteOf(args.URL) {
				return dispatch.Verdict{}
			}
		}
	}
	if !isWeb(callInfo.Target.URL) { // no tool reads or changes such a page; a tab can be navigated away from it
		return dispatch.Verdict{}
	}
	return s.decideAddress(callInfo, classOf(callInfo), callInfo.Target.URL)
}

// siteArgs are the arguments of browser tools that concern sites.
type siteArgs struct {
	URL    string `json:"url"`
	Action string `json:"action"`
	Go     string `json:"go"`
	// Paths are the files to upload.
	Paths []string `json:"paths"`
}

// maxPathsChars is the longest list of files in a request for approval, in characters.
const maxPathsChars = 300

func siteArgsOf(callInfo dispatch.CallInfo) siteArgs {
	var args siteArgs
	_ = json.Unmarshal(callInfo.Args, &args) // the arguments match the schema of the tool
	return args
}

// decideOpening decides whether a call may open an address.
func (s *siteGate) decideOpening(callInfo dispatch.CallInfo, address string) dispatch.Verdict {
	if !isWeb(address) {
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, "%.200q can't be opened: give a whole http or https address, such as https://shop.example/cart", address)
	}
	if problem := checkHost(address); problem != "" {
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, "%.200q can't be opened: %s", address, problem)
	}
	return s.decideAddress(callInfo, classAct, address)
}

// tabList is the site of an approval to see the list of tabs.
const tabList = "the list of open tabs"

// decideTabs decides about a call of browser_tabs. A client may close the tabs that it
// opened. Closing another tab needs an approval each time.
func (s *siteGate) decideTabs(callInfo dispatch.CallInfo, args siteArgs) dispatch.Verdict {
	isAllowed := false
	var request dispatch.Ticket
	switch args.Action {
	case "new":
		if args.URL == "" {
			return dispatch.Verdict{}
		}
		return s.decideOpening(callInfo, args.URL)
	case "close":
		site := fmt.Sprintf("tab %d", callInfo.Target.TabID)
		if callInfo.Target.TabID == 0 {
			return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, `browser_tabs needs "tabId" to close a tab`)
		}
		isAllowed = s.tabs.isOpenedByClient(callInfo) || s.isCallApproved(callInfo, site)
		request = dispatch.Ticket{
			Title:  site,
			Reason: fmt.Sprintf("%s wants to close tab %d, %q (%s)", policy.RequesterText(callInfo), callInfo.Target.TabID, callInfo.Target.Title, siteOf(callInfo.Target.URL)),
		}
	default:
		_, everySite := s.rules.RuleFor("")
		isAllowed = everySite.Rule == policy.SiteAuto || everySite.Rule == policy.SiteRead || s.isApproved(callInfo, classRead, tabList)
		request = dispatch.Ticket{
			Title: tabList, Reason: policy.RequesterText(callInfo) + " wants to see which tabs are open, with their titles and hosts",
		}
	}
	if isAllowed {
		return dispatch.Verdict{}
	}
	request.Kind = wire.TicketPermission
	return dispatch.Verdict{Suspend: &request}
}

// isWeb reports whether an address is an absolute http or https URL.
func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// checkHost returns what is wrong with the host or the port of an address; empty if they
// are in the form that browsers show. A browser reads other forms, such as 127.1 or
// 0x7f.1, as another host than the rules of sites do.
func checkHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "it is no address"
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	plainHost := host
	if strings.Contains(host, ":") {
		plainHost = "[" + host + "]"
	}
	if _, err := policy.ParseSite(plainHost); err != nil {
		return "write the host in ASCII letters, digits, hyphens and dots, such as xn--bcher-kva.example"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || strconv.Itoa(n) != port {
			return "write the port without leading zeros"
		}
	}
	lastLabel := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := netip.ParseAddr(host); err != nil && isNumber(lastLabel) {
		return "write an IPv4 address as four decimal numbers, such as 192.0.2.1"
	}
	return ""
}

// isNumber reports whether a browser reads a label of a host as a number: then it reads
// the host as an IPv4 address.
func isNumber(label string) bool {
	digits, isHex := strings.CutPrefix(strings.ToLower(label), "0x")
	allowed := "0123456789"
	if isHex {
		allowed += "abcdef"
	}
	return (digits != "" || isHex) && strings.Trim(digits, allowed) == ""
}

// decideAddress decides whether a call may use one address.
func (s *siteGate) decideAddress(callInfo dispatch.CallInfo, class class, address string) dispatch.Verdict {
	site := siteOf(address)
	rule := s.ruleFor(address)
	switch {
	case s.isOwn(address):
		return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, "browser tools never reach opentabs itself (%s), and no permission changes that", site)
	case rule == policy.SiteOff:
		return refuse(site, class, fmt.Sprintf("the user does not allow browser tools on %s", site), policy.SiteAsk)
	case rule == policy.SiteRead && class != classRead:
		return refuse(site, class, fmt.Sprintf("the user allows browser tools to read on %s, but not to act", site), policy.SiteAsk)
	case rule == policy.SiteAuto, rule == policy.SiteRead, s.isApproved(callInfo, class, site):
		return dispatch.Verdict{}
	}
	reason := fmt.Sprintf("%s wants to %s %s (%s)", policy.RequesterText(callInfo), verbOf(class), site, callInfo.Tool.Name)
	if paths := siteArgsOf(callInfo).Paths; len(paths) > 0 {
		reason += " with the files " + plaintext.Line(strings.Join(paths, ", "), maxPathsChars)
	}
	if isSensitive(address) {
		reason += "; this site is sensitive"
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: site, Reason: reason,
		Scopes: []wire.Scope{wire.ScopeOnce, wire.ScopeSession, wire.ScopeTime, wire.ScopeAlways},
	}}
}

// frameRules returns, for the patterns of all sites with a rule, whether a tool of a class
// may run in a child frame of such a site. The daemon's own addresses are forbidden.
func (s *siteGate) frameRules(class class) map[string]bool {
	rules := map[string]bool{}
	for pattern, entry := range s.rules.All() {
		if entry.Rule != "" {
			rules[pattern] = entry.Rule != policy.SiteOff && (entry.Rule != policy.SiteRead || class == classRead)
		}
	}
	if _, port, err := net.SplitHostPort(s.ownAddress); err == nil {
		for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
			rules[host+":"+port] = false
		}
	}
	return rules
}

// refuse returns the verdict for a site that a rule of the user forbids.
func refuse(site string, class class, fact string, rule policy.SiteRule) dispatch.Verdict {
	command := "opentabs browser site"
	if host, err := policy.ParseSite(strings.TrimSuffix(site, ".")); err == nil {
		command = fmt.Sprintf("opentabs browser site %s %s", host, rule)
	}
	v := dispatch.NewBlockVerdict(wire.ErrDenied, "%s. The user can allow it with `%s` in a terminal", fact, command)
	v.UserText = fmt.Sprintf("Browser tools may not %s %s. To allow it, run `%s`.", verbOf(class), site, command)
	return v
}

// verbOf returns what a class of tools does to a site.
func verbOf(class class) string {
	if class == classRead {
		return "read"
	}
	return "act on"
}

// ruleFor returns the rule of the user for an address. Without a rule, the site needs
// approvals. A rule with a wildcard does not allow a sensitive site without approvals.
func (s *siteGate) ruleFor(address string) policy.SiteRule {
	pattern, entry := s.rules.RuleFor(address)
	switch {
	case pattern == "":
		return policy.SiteAsk
	case entry.Rule != policy.SiteOff && isSensitive(address) && !policy.IsSiteExact(pattern):
		return policy.SiteAsk
	}
	return entry.Rule
}

// isOwn reports whether an address is the daemon's.
func (s *siteGate) isOwn(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	_, ownPort, err := net.SplitHostPort(s.ownAddress)
	return err == nil && u.Port() == ownPort && isLoopback(u.Hostname())
}

// siteOf returns what an approval is for: the scheme, host and port of an address.
func siteOf(address string) string { return dispatch.OriginOf(address) }

// isApproved reports whether the user has approved a call on a site, for this call or
// for later calls. An approval to act includes reading.
func (s *siteGate) isApproved(callInfo dispatch.CallInfo, class class, site string) bool {
	caller := callInfo.Caller.PluginName()
	if caller == "" && s.rules.IsAlwaysAllowed(site, callInfo.Client.Identity(), string(class)) {
		return true
	}
	if s.isCallApproved(callInfo, site) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	return slices.ContainsFunc(s.grants, func(g siteGrant) bool {
		return g.site == site && (g.class == class || g.class == classAct) && g.caller == caller && now.Before(g.until) &&
			g.client == callInfo.Client.Identity() && (g.session == "" || g.session == callInfo.Client.Session)
	})
}

// isCallApproved reports whether the user has approved this call on a site.
func (s *siteGate) isCallApproved(callInfo dispatch.CallInfo, site string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.singleCalls[callInfo.CallID], site)
}

// ObserveDecision implements dispatch.DecisionObserver. An approval to read holds for the
// session of the client, so a client needs one approval for each site.
func (s *siteGate) ObserveDecision(callInfo dispatch.CallInfo, t dispatch.Ticket, r dispatch.Resolution) {
	site, class := t.Title, classOf(callInfo)
	change := policy.Change{
		Kind: "decision", Plugin: Name, Tool: callInfo.Tool.Name, Site: site, CallID: callInfo.CallID, Client: callInfo.Client.String(), Caller: callInfo.Caller,
		Allow: r.Allow, Scope: r.Scope, For: r.Duration, By: r.Surface,
	}
	defer func() { s.rules.Record(change) }()
	if !r.Allow {
		return
	}
	if r.Surface == dispatch.PermissionChange { // a rule allows the call, so that no approval is needed later
		return
	}
	stored := siteGrant{client: callInfo.Client.Identity(), caller: callInfo.Caller.PluginName(), site: site, class: class}
	switch {
	case r.Scope == wire.ScopeTime:
		stored.until = r.DecidedAt.Add(r.Duration)
	case r.Scope == wire.ScopeSession, r.Scope == wire.ScopeOnce && class == classRead:
		stored.until = r.DecidedAt.Add(sessionGrantTime)
		if !callInfo.Client.IsSessionShared {
			stored.session = callInfo.Client.Session
		}
	case r.Scope == wire.ScopeAlways:
		stored.until = r.DecidedAt.Add(sessionGrantTime)
		if stored.caller == "" && s.rules.Allow(site, stored.client, string(class), r.Surface) == nil {
			stored.until = time.Time{} // the rules have the approval, and can lose it
			break
		}
		change.Scope = wire.ScopeTime
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.singleCalls[callInfo.CallID] = append(s.singleCalls[callInfo.CallID], site)
	if !stored.until.IsZero() {
		now := time.Now()
		s.grants = slices.DeleteFunc(s.grants, func(g siteGrant) bool { return !now.Before(g.until) })
		s.grants = append(s.grants, stored)
		s.grants = s.grants[max(0, len(s.grants)-maxGrants):]
	}
}

// After implements dispatch.AfterHook: the approval for one call ends with the call.
func (s *siteGate) After(callInfo dispatch.CallInfo, _ dispatch.EndedCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.singleCalls, callInfo.CallID)
}

// mayShow reports whether a client may receive the content of an address, without asking
// the user: after a redirect, or in the list of tabs.
func (s *siteGate) mayShow(callInfo dispatch.CallInfo, address string) bool {
	if !isWeb(address) || s.isOwn(address) {
		return false
	}
	rule := s.ruleFor(address)
	return rule == policy.SiteAuto || rule == policy.SiteRead || rule != policy.SiteOff && s.isApproved(callInfo, classRead, siteOf(address))
}
