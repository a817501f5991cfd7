package browser

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// maxSessionApprovalTime limits how long an approval for a session lasts.
const maxSessionApprovalTime = 24 * time.Hour

// maxGrants limits the number of approvals that siteGate keeps in memory. If siteGate already
// keeps maxGrants approvals, a new approval replaces the oldest one.
const maxGrants = 1000

// siteGate decides on which sites browser tools are allowed to run. The rules that the user
// has set for sites are in [policy.Sites]. Approvals for a session or for some time are only
// in memory.
type siteGate struct {
	rules policy.Sites
	tabs  *tabTable
	// ownAddress is the address on which the daemon listens, as host:port.
	ownAddress    string
	uploadFolders []string

	mu              sync.Mutex // the mutex guards all fields below
	grants          []siteGrant
	lastRuleVersion ruleVersion
	callApprovals   map[string][]string
}

// siteGrant is an approval for later calls of one client on one site.
type siteGrant struct {
	client    string
	session   string
	caller    string
	site      string
	class     toolClass
	expiresAt time.Time
}

var (
	_ dispatch.DecisionObserver = (*siteGate)(nil)
	_ dispatch.AfterHook        = (*siteGate)(nil)
)

func newSiteGate(o Options, tabs *tabTable) *siteGate {
	s := &siteGate{rules: policy.NewSites(o.Rules), tabs: tabs, ownAddress: o.OwnAddress, uploadFolders: o.UploadFolders, callApprovals: map[string][]string{}}
	s.forgetApprovals()
	o.Rules.OnChange(s.forgetApprovals)
	return s
}

// ruleVersion summarizes the user's decisions about sites. If the user changes a decision
// about a site, the ruleVersion changes too.
type ruleVersion struct {
	rules               string
	alwaysApprovalCount int
}

// After the user has changed a rule, an earlier approval must not allow a call against the new rule.
func (s *siteGate) forgetApprovals() {
	var now ruleVersion
	entries := s.rules.All()
	for _, pattern := range slices.Sorted(maps.Keys(entries)) {
		siteEntry := entries[pattern]
		now.alwaysApprovalCount += len(siteEntry.Allowed)
		if siteEntry.Rule != "" || !siteEntry.At.IsZero() {
			now.rules += fmt.Sprintln(pattern, siteEntry.Rule, siteEntry.At)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.rules != s.lastRuleVersion.rules || now.alwaysApprovalCount < s.lastRuleVersion.alwaysApprovalCount {
		s.grants = nil
	}
	s.lastRuleVersion = now
}

// The method Name implements dispatch.Gate.
func (s *siteGate) Name() string { return "site" }

// The method Decide implements dispatch.Gate.
func (s *siteGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	if callInfo.Tool.Plugin != Name {
		return dispatch.Verdict{}
	}
	if callInfo.Target == (dispatch.Target{}) {
		return dispatch.Verdict{}
	}
	args := siteArgsOf(callInfo)
	switch callInfo.Tool.Name {
	case toolBatch: // each step of the batch passes the gate separately
		return dispatch.Verdict{}
	case toolTabs:
		return s.decideTabs(callInfo, args)
	case toolUpload: // a request for approval lists only files that can be uploaded
		for _, path := range args.Paths {
			if _, _, err := findUpload(path, s.uploadFolders); err != nil {
				return dispatch.Verdict{BlockError: newUploadError(err)}
			}
		}
	case toolNavigate:
		switch {
		case (args.URL == "") == (args.Go == ""):
			return newInvalidVerdict(`browser_navigate takes either "url" or "go"`)
		case args.URL != "":
			if v := s.decideOpening(callInfo, args.URL); v.BlockError != nil || v.Suspend != nil {
				return v
			}
			// A client needs an approval to navigate a tab that it did not open, because the
			// user may lose work in the tab.
			if s.tabs.isOpenedByClient(callInfo) || originOf(callInfo.Target.URL) == originOf(args.URL) {
				return dispatch.Verdict{}
			}
		}
	case toolEvaluate:
		if v := checkEvaluate(callInfo.Args); v.BlockError != nil {
			return v
		}
	}
	if d := definitionOf(callInfo.Tool.Name); d != nil && d.targetKind == dispatch.TargetBrowser {
		return s.decideWithoutTab(callInfo, d)
	}
	if !isWebAddress(callInfo.Target.URL) {
		return s.decideNavigation(callInfo)
	}
	return s.decideAddress(callInfo, classOf(callInfo), callInfo.Target.URL)
}

// No tool reads or changes a page outside http and https, but its tab can be navigated. The user could lose work in
// such a page, for example in a PDF form or a page of another extension.
func (s *siteGate) decideNavigation(callInfo dispatch.CallInfo) dispatch.Verdict {
	target := callInfo.Target
	if callInfo.Tool.TargetKind != dispatch.TargetTab || isEmptyPage(target) || s.tabs.isOpenedByClient(callInfo) ||
		s.isCallApproved(callInfo, closeApprovalKey(callInfo)) {
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: tabName(target.TabID),
		Reason: fmt.Sprintf("%s wants to navigate tab %d, %q (%s), to another page", policy.RequesterText(callInfo), target.TabID, target.Title, schemeOf(target.URL)),
	}}
}

// siteArgs are those arguments of browser tools that determine which sites a call
// concerns.
type siteArgs struct {
	URL    string `json:"url"`
	Action string `json:"action"`
	Go     string `json:"go"`
	// The field Paths contains the files to upload.
	Paths []string `json:"paths"`
}

func siteArgsOf(callInfo dispatch.CallInfo) siteArgs {
	var args siteArgs
	_ = json.Unmarshal(callInfo.Args, &args)
	return args
}

func (s *siteGate) decideOpening(callInfo dispatch.CallInfo, address string) dispatch.Verdict {
	if v := checkOpenable(address); v.BlockError != nil {
		return v
	}
	return s.decideAddress(callInfo, classAct, address)
}

// Without an approval, a client is allowed to close only the tabs that the client itself opened.
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
		if callInfo.Target.TabID == 0 {
			return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, `browser_tabs needs "tabId" to close a tab`,
				"The call names no tab to close. In a terminal, choose a tab with --tab.")
		}
		isAllowed = s.tabs.isOpenedByClient(callInfo) || s.isCallApproved(callInfo, closeApprovalKey(callInfo))
		request = dispatch.Ticket{
			Title:  tabName(callInfo.Target.TabID),
			Reason: fmt.Sprintf("%s wants to close tab %d, %q (%s)", policy.RequesterText(callInfo), callInfo.Target.TabID, callInfo.Target.Title, originOf(callInfo.Target.URL)),
		}
	default:
		return s.decideTabList(callInfo)
	}
	if isAllowed {
		return dispatch.Verdict{}
	}
	request.Kind = wire.TicketPermission
	return dispatch.Verdict{Suspend: &request}
}

// The key of the approval includes the ID of the tab's document, so that the approval does not cover another page that
// the tab loads while the user decides.
func closeApprovalKey(callInfo dispatch.CallInfo) string {
	return tabName(callInfo.Target.TabID) + " " + callInfo.Target.DocumentID + " " + callInfo.Target.URL
}

func (s *siteGate) decideAddress(callInfo dispatch.CallInfo, class toolClass, address string) dispatch.Verdict {
	site := originOf(address)
	rule := s.ruleFor(address, class)
	noteText := ""
	if isSensitive(address) {
		noteText = "; this site is sensitive"
	}
	if class == classAct && rule == policy.SiteAuto && showsSecrets(callInfo, address) {
		if pattern, _ := s.rules.RuleFor(address); !policy.IsSiteExact(pattern) {
			rule, noteText = policy.SiteAsk, secretsNote(callInfo.Target.Secrets)
		}
	}
	switch {
	case s.isOwnAddress(address):
		return newInvalidVerdict("browser tools never reach opentabs itself (%s), and no permission changes that", site)
	case rule == policy.SiteOff:
		return newRefusal(site, class, fmt.Sprintf("the user does not allow browser tools on %s", site), policy.SiteAsk)
	case rule == policy.SiteRead && class != classRead:
		return newRefusal(site, class, fmt.Sprintf("the user allows browser tools to read on %s, but not to act", site), policy.SiteAsk)
	case len(typedSecretKinds(callInfo.Target)) > 0:
		return s.decideTyping(callInfo, site)
	case rule == policy.SiteAuto, rule == policy.SiteRead, callInfo.Tool.Name == toolUpload && s.isCallApproved(callInfo, site):
		return dispatch.Verdict{}
	case callInfo.Tool.Name == toolUpload: // an approval to act does not cover files
		return newUploadRequest(callInfo, site, noteText)
	case s.isApproved(callInfo, class, site):
		return dispatch.Verdict{}
	}
	reason := fmt.Sprintf("%s wants to %s %s (%s)", policy.RequesterText(callInfo), actionVerb(class), site, callInfo.Tool.Name)
	if class == classDangerous {
		reason += "; this tool is dangerous"
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: site, Reason: reason + noteText,
		Scopes:     []wire.Scope{wire.ScopeOnce, wire.ScopeSession, wire.ScopeTime, wire.ScopeAlways},
		IsReadOnly: class == classRead,
	}}
}

func newRefusal(site string, class toolClass, errorSentence string, rule policy.SiteRule) dispatch.Verdict {
	command := "opentabs browser site"
	if host, err := policy.ParseSite(strings.TrimSuffix(site, ".")); err == nil {
		command = fmt.Sprintf("opentabs browser site %s %s", host, rule)
	}
	return dispatch.NewBlockVerdict(wire.ErrDenied, fmt.Sprintf("%s. The user can allow it with `%s` in a terminal", errorSentence, command),
		fmt.Sprintf("Browser tools may not %s %s. To allow it, run `%s`.", actionVerb(class), site, command))
}

func actionVerb(class toolClass) string {
	switch class {
	case classRead:
		return "read"
	case classDangerous:
		return "use a dangerous tool on"
	}
	return "act on"
}

// On a site without a rule, browser tools need the user's approval. A wildcard rule never allows a sensitive site or a
// dangerous tool without approvals.
func (s *siteGate) ruleFor(address string, class toolClass) policy.SiteRule {
	pattern, siteEntry := s.rules.RuleFor(address)
	switch {
	case pattern == "":
		return policy.SiteAsk
	case siteEntry.Rule == policy.SiteRead && class != classRead: // a read-only rule also applies to sensitive sites
		return policy.SiteRead
	case siteEntry.Rule != policy.SiteOff && isSensitive(address) && !policy.IsSiteExact(pattern):
		return policy.SiteAsk
	case siteEntry.Rule == policy.SiteAuto && class == classDangerous && !policy.IsSiteExact(pattern):
		return policy.SiteAsk
	}
	return siteEntry.Rule
}

func (s *siteGate) isOwnAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	_, ownPort, err := net.SplitHostPort(s.ownAddress)
	return err == nil && u.Port() == ownPort && isLoopback(u.Hostname())
}

// An approval to act includes reading.
func (s *siteGate) isApproved(callInfo dispatch.CallInfo, class toolClass, site string) bool {
	class = approvalClass(callInfo, class)
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
		return g.site == site && (g.class == class || g.class == classAct && class == classRead) && g.caller == caller && now.Before(g.expiresAt) &&
			g.client == callInfo.Client.Identity() && (g.session == "" || g.session == callInfo.Client.Session)
	})
}

func approvalClass(callInfo dispatch.CallInfo, c toolClass) toolClass {
	if c == classDangerous {
		return toolClass(callInfo.Tool.Name)
	}
	return c
}

func (s *siteGate) isCallApproved(callInfo dispatch.CallInfo, site string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.callApprovals[callInfo.CallID], site)
}

// ObserveDecision implements dispatch.DecisionObserver by storing the user's approvals.
func (s *siteGate) ObserveDecision(callInfo dispatch.CallInfo, t dispatch.Ticket, r dispatch.Resolution) {
	site, class := t.Title, approvalClass(callInfo, classOf(callInfo))
	if ownOrigin := originOf(callInfo.Target.URL); t.Title == secretTitle(ownOrigin, typedSecretKinds(callInfo.Target)) {
		site = ownOrigin
	}
	policyChange := policy.Change{
		Kind: "decision", Plugin: Name, Tool: callInfo.Tool.Name, Site: site, CallID: callInfo.CallID, Client: callInfo.Client.String(), Caller: callInfo.Caller,
		Allow: r.Allow, Scope: r.Scope, For: r.Duration, By: r.Surface,
	}
	defer func() { s.rules.RecordDecision(policyChange) }()
	if !r.Allow {
		return
	}
	if r.IsFromRecheck { // a rule now allows the call, so no approval needs to be stored
		return
	}
	storedSiteGrant := siteGrant{client: callInfo.Client.Identity(), caller: callInfo.Caller.PluginName(), site: site, class: class}
	switch {
	case r.Scope == wire.ScopeTime:
		storedSiteGrant.expiresAt = r.DecidedAt.Add(r.Duration)
	case r.Scope == wire.ScopeSession, r.Scope == wire.ScopeOnce && class == classRead:
		storedSiteGrant.expiresAt = r.DecidedAt.Add(maxSessionApprovalTime)
		if !callInfo.Client.IsSessionShared {
			storedSiteGrant.session = callInfo.Client.Session
		}
	case r.Scope == wire.ScopeAlways:
		storedSiteGrant.expiresAt = r.DecidedAt.Add(maxSessionApprovalTime)
		if storedSiteGrant.caller == "" && s.rules.Allow(site, storedSiteGrant.client, string(class), r.Surface) == nil {
			storedSiteGrant.expiresAt = time.Time{} // the approval is stored in the rules, where the user can remove it
			break
		}
		policyChange.Scope = wire.ScopeTime
	}
	key := t.Title
	if key == tabName(callInfo.Target.TabID) {
		key = closeApprovalKey(callInfo)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callApprovals[callInfo.CallID] = append(s.callApprovals[callInfo.CallID], key)
	if r.Scope != wire.ScopeOnce || !storedSiteGrant.expiresAt.IsZero() { // the approval may also allow calls that wait for approval
		s.rules.RecheckGates()
	}
	if !storedSiteGrant.expiresAt.IsZero() {
		now := time.Now()
		s.grants = slices.DeleteFunc(s.grants, func(g siteGrant) bool { return !now.Before(g.expiresAt) })
		s.grants = append(s.grants, storedSiteGrant)
		s.grants = s.grants[max(0, len(s.grants)-maxGrants):]
	}
}

// The method AfterCall implements dispatch.AfterHook.
func (s *siteGate) AfterCall(callInfo dispatch.CallInfo, _ dispatch.EndedCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.callApprovals, callInfo.CallID)
}

func (s *siteGate) endSession(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants = slices.DeleteFunc(s.grants, func(g siteGrant) bool { return g.session == session })
}

// mayShowContent reports whether a client is allowed to receive the content of an address
// without a new approval, for example after a redirect or in the list of tabs.
func (s *siteGate) mayShowContent(callInfo dispatch.CallInfo, address string) bool {
	if !isWebAddress(address) || s.isOwnAddress(address) {
		return false
	}
	rule := s.ruleFor(address, classRead)
	return rule == policy.SiteAuto || rule == policy.SiteRead || rule != policy.SiteOff && s.isApproved(callInfo, classRead, originOf(address))
}
