// Package permissions reads and changes the reviews, permissions and settings of plugins.
// The HTTP API, the side panel, agents and commands use this package.
//
// [LocalPolicy] works directly on the files of the installation. httpapi.Client.Policy makes
// the same changes through a running daemon.
package permissions

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"opentabs/browser"
	"opentabs/internal/audit"
	"opentabs/internal/httpapi"
	"opentabs/plugin/catalog"
	"opentabs/plugin/inspection"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// LocalPolicy reads and changes permissions in the files of the installation. LocalPolicy implements
// [httpapi.Policy].
type LocalPolicy struct {
	*policy.Policy
	registry *catalog.Catalog
}

var _ httpapi.Policy = LocalPolicy{}

// NewLocalPolicy returns a LocalPolicy for the plugins in registry.
func NewLocalPolicy(policy *policy.Policy, registry *catalog.Catalog) LocalPolicy {
	return LocalPolicy{policy, registry}
}

// Plugins returns all plugins as shown in the side panel. The first result contains the
// loaded plugins, and the second result contains the plugins that failed to load.
func (l LocalPolicy) Plugins() ([]wire.PluginView, []wire.FailedPluginView) {
	return l.pluginViews(), failedViews(l.registry.Set())
}

// Permissions returns the user's permissions for a plugin and for each of its tools.
// Permissions implements [httpapi.Policy].
func (l LocalPolicy) Permissions(name string) (httpapi.PluginPermissions, error) {
	loadedPlugin, err := l.registry.Set().Find(name)
	if err != nil {
		return httpapi.PluginPermissions{}, err
	}
	view := l.permissionsOf(loadedPlugin)
	view.Recommendation, view.Fault = l.findRecommendation(loadedPlugin), l.startFault(loadedPlugin)
	return view, nil
}

// ReviewAll reviews several plugins in one change. errs[i] is the error of reviews[i], or
// nil. ReviewAll implements [httpapi.Policy].
func (l LocalPolicy) ReviewAll(reviews []wire.ConfigReviewParams, by string) (errs []error) {
	return policy.ReviewAll(l.Policy, reviews, by)
}

// DisableAll turns several plugins off in one change. errs[i] is the error of names[i],
// or nil. DisableAll implements [httpapi.Policy].
func (l LocalPolicy) DisableAll(names []string, by string) (errs []error) {
	return policy.DisableAll(l.Policy, names, by)
}

// SetLimit limits how often a tool can run, for example to 10 calls per minute with
// "10/1m". SetLimit implements [httpapi.Policy].
func (l LocalPolicy) SetLimit(name, tool, limit, by string) error {
	var parsedLimit policy.Limit
	if err := parsedLimit.UnmarshalText([]byte(limit)); err != nil {
		return err
	}
	return l.Policy.SetLimit(name, tool, parsedLimit, by)
}

// Sites returns the user's rules for browser tools, sorted by site. Sites implements
// [httpapi.Policy].
func (l LocalPolicy) Sites() ([]httpapi.Site, error) {
	var sites []httpapi.Site
	entries := policy.NewSites(l.Policy).All()
	for _, pattern := range slices.Sorted(maps.Keys(entries)) {
		siteEntry := entries[pattern]
		if siteEntry.Rule == "" && len(siteEntry.Allowed) == 0 { // the user has reset the rule for the site
			continue
		}
		site := httpapi.Site{Site: pattern, Permission: string(siteEntry.Rule), ChangeOrigin: httpapi.ChangeOrigin(siteEntry.ChangeOrigin)}
		for _, a := range siteEntry.Allowed {
			site.AlwaysAllowed = append(site.AlwaysAllowed, httpapi.SiteClient{Client: a.Client, Class: a.Class, ChangeOrigin: httpapi.ChangeOrigin(a.ChangeOrigin)})
		}
		sites = append(sites, site)
	}
	return sites, nil
}

// SetSiteRule sets the user's rule for browser tools on one site, such as "read". If rule is
// empty, SetSiteRule removes the user's rule for the site. SetSiteRule implements
// [httpapi.Policy].
func (l LocalPolicy) SetSiteRule(site, rule, by string) error {
	var parsedRule policy.SiteRule
	if rule != "" {
		var err error
		if parsedRule, err = policy.ParseSiteRule(rule); err != nil {
			return err
		}
	}
	return policy.NewSites(l.Policy).Set(site, parsedRule, by)
}

// Settings returns the settings of a plugin with their values; the values of secret
// settings are omitted. Settings implements [httpapi.Policy].
func (l LocalPolicy) Settings(name string) ([]wire.SettingView, error) {
	loadedPlugin, err := l.registry.Set().Find(name)
	if err != nil {
		return nil, err
	}
	return l.settingViews(loadedPlugin), nil
}

// ChangeSettings stores settings of a plugin; the value null removes a setting.
// ChangeSettings implements [httpapi.Policy].
func (l LocalPolicy) ChangeSettings(name string, settingValues map[string]json.RawMessage, by string) error {
	loadedPlugin, err := l.registry.Set().Find(name)
	if err != nil {
		return err
	}
	return l.registry.Values().Change(loadedPlugin, settingValues, by)
}

// Forget removes a plugin's review, permissions and settings. Forget implements
// [httpapi.Policy].
func (l LocalPolicy) Forget(name, by string) error {
	return errors.Join(l.Policy.Forget(name, by), l.registry.Values().Forget(name, by))
}

// Inspect returns the facts that the user reviews before enabling a plugin.
func (l LocalPolicy) Inspect(name string) (*inspection.Inspection, error) {
	return inspection.Inspect(l.Policy, l.registry.Set(), l.registry.Values(), name)
}

// AuditRecord converts a change of permissions or settings into a record for the audit
// log.
func AuditRecord(c policy.Change) audit.Record {
	r := audit.Record{Kind: audit.Kind(c.Kind), Tool: cmp.Or(c.Plugin, c.Site), Hash: c.Hash, By: c.By, Old: c.Old, New: c.New}
	r.CallID, r.Client, r.Caller = c.CallID, c.Client, c.Caller
	switch {
	case c.Plugin == browser.Name && c.Tool != "":
		r.Tool, r.Origin = c.Tool, c.Site
	case c.Tool != "":
		r.Tool += "__" + c.Tool
	}
	if r.Kind == audit.KindDecision {
		r.Allow, r.Scope, r.DurationMs = &c.Allow, c.Scope, c.For.Milliseconds()
	}
	return r
}
