package doctor

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/rs/zerolog"

	"opentabs/browser"
	"opentabs/internal/httpapi"
	"opentabs/internal/permissions"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/plugin/catalog"
	"opentabs/plugin/policy"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

func (c *healthCheck) checkPlugins() {
	plugins, failedPlugins, err := c.listPlugins()
	if arePermissionsBroken := c.checkPermissions(); arePermissionsBroken && err == nil && len(plugins)+len(failedPlugins) == 0 {
		return // checkPermissions has reported why the permissions are unknown
	}
	switch {
	case err != nil:
		c.reportFailure("plugins", err.Error(), "correct this; `opentabs plugin list` shows the plugins that can be loaded")
		return
	case len(plugins)+len(failedPlugins) == 0 && c.hasBrowserTools():
		c.reportOK("plugins", "there are none; agents can use browser tools on any page")
		return
	case len(plugins)+len(failedPlugins) == 0:
		c.reportWarning("plugins", "agents have no tools: there are no plugins, and browser tools are off", "run `opentabs browser tools on` for tools that work on any page, or install a plugin with `opentabs plugin install NAME`")
		c.markLastNotSetUp()
		return
	}
	for _, f := range failedPlugins {
		c.reportFailure("plugins", fmt.Sprintf("%s: %s", f.Path, f.Error), "repair or build it, or remove it with `opentabs plugin remove`")
	}
	usablePlugins, tools := 0, 0
	for _, p := range plugins {
		if c.checkPlugin(p) {
			usablePlugins, tools = usablePlugins+1, tools+len(p.Tools)
		}
	}
	if usablePlugins > 0 {
		c.reportOK("plugins", "%s with %s can be used", terminal.CountNoun(usablePlugins, "plugin"), terminal.CountNoun(tools, "tool"))
	}
}

func (c *healthCheck) checkPermissions() (hasBrokenFile bool) {
	rules := c.browserPolicy()
	problems := rules.Problems()
	fileContent, err := os.ReadFile(rules.Path())
	if hasBrokenFile = len(problems) > 0 && (err != nil || !json.Valid(fileContent)); hasBrokenFile {
		c.reportFailure("permissions", strings.Join(problems, "; ")+"; until then no tool runs", "correct the file, or move it away to start without permissions")
		return true
	}
	if c.status != nil {
		problems = c.status.Permissions
	}
	for _, problem := range problems {
		command := "opentabs plugin permission"
		if strings.HasPrefix(problem, "sites") {
			command = "opentabs browser site"
		}
		c.reportWarning("plugins", problem, fmt.Sprintf("set the permission again with `%s`", command))
	}
	return false
}

func (c *healthCheck) browserPolicy() *policy.Policy {
	pluginSet := plugin.NewSet(nil, nil, browser.Plugin())
	return policy.New(c.dirs.State, func() *plugin.Set { return pluginSet }, policy.Options{})
}

// A globally installed plugin without a review is not reported, because the user might not want it.
func (c *healthCheck) checkPlugin(p httpapi.Plugin) (usablePlugins bool) {
	switch {
	case p.Source == string(plugin.SourceGlobal) && !p.Reviewed:
	case p.HasChanged:
		c.reportWarning("plugins", p.Name+" has changed since its review, so agents cannot use it", "review it with `opentabs plugin review "+p.Name+"`")
	case !p.Reviewed:
		c.reportWarning("plugins", p.Name+" is not reviewed, so agents cannot use it", "review it with `opentabs plugin review "+p.Name+"`")
	case p.Permission == wire.PermissionOff:
		c.reportWarning("plugins", p.Name+" is off, so agents cannot use it", "enable it with `opentabs plugin permission "+p.Name+" ask`, or remove it")
	case p.Fault != nil:
		c.reportFailure("plugins", p.Name+" "+p.Fault.Text, "repair or update it, or remove it with `opentabs plugin remove "+p.Name+"`; `opentabs logs --plugin "+p.Name+"` may show why")
	case len(p.MissingSettings) > 0:
		c.reportWarning("plugins", p.Name+" needs these settings: "+strings.Join(p.MissingSettings, ", "), "set them with `opentabs plugin configure "+p.Name+"`")
	default:
		return true
	}
	return false
}

func (c *healthCheck) hasBrowserTools() bool {
	return c.browserPolicy().State(browser.Name).EffectivePermission != wire.PermissionOff
}

func (c *healthCheck) listPlugins() ([]httpapi.Plugin, []httpapi.FailedPlugin, error) {
	if c.status != nil {
		return c.status.Plugins, c.status.Failed, nil
	}
	h := c.findHome()
	registry := catalog.New(h.PluginStore(), settings.New(c.dirs.State, settings.Options{}), zerolog.Nop())
	if err := h.DiscoverGlobal(registry.Registry); err != nil {
		c.reportWarning("plugins", err.Error(), "correct npm's settings, or set discoverGlobal to \"off\"")
	}
	if err := registry.Reload(); err != nil {
		return nil, nil, err
	}
	pluginSet := registry.Set()
	reviews := policy.New(c.dirs.State, registry.Set, policy.Options{})
	localPermissions := permissions.NewLocalPolicy(reviews, registry)
	var plugins []httpapi.Plugin
	for _, p := range pluginSet.Plugins() {
		plugins = append(plugins, localPermissions.Status(p))
	}
	var failedPlugins []httpapi.FailedPlugin
	for _, f := range pluginSet.Failed() {
		failedPlugins = append(failedPlugins, permissions.NewFailedPlugin(f))
	}
	return plugins, failedPlugins, nil
}
