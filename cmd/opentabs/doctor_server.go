package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/internal/permissions"
	"opentabs/internal/portowner"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
	"opentabs/plugin"
	"opentabs/wire"
)

// The checks of what runs: the server, and what it knows of browsers and
// plugins.

func (c *checkup) checkServer(ctx context.Context) {
	if !c.set {
		c.fail("server", "its port is not known", "correct the settings first")
		return
	}
	server, err := c.home().FindServer(ctx)
	switch {
	case errors.Is(err, httpapi.ErrNoServer):
		c.warn("server", fmt.Sprintf("none runs; %s", portWord(c.settings.Port)), "start it with `opentabs serve`; an MCP client that runs `opentabs mcp` starts it too")
		return
	case errors.Is(err, httpapi.ErrForeignServer):
		c.fail("server", fmt.Sprintf("port %d is taken by %s, which does not know the token of this installation", c.settings.Port, portowner.Find(ctx, c.settings.Port)),
			"set OPENTABS_HOME to the directory of that server if it is yours, stop that program, or choose another port with OPENTABS_PORT")
		return
	case err != nil:
		c.fail("server", err.Error(), "end what hangs, then start the server with `opentabs serve`")
		return
	}
	c.server = server
	token, err := c.dirs.ExistingToken()
	if err == nil {
		var status httpapi.Status
		if status, err = httpapi.NewClient(server.Port, token).Status(ctx); err == nil {
			c.status = &status
		}
	}
	if err != nil {
		c.fail("server", fmt.Sprintf("%s, on port %d, does not tell its status: %v", server, server.Port, err), fmt.Sprintf("stop it with `kill %d` and start it again", server.PID))
		return
	}
	c.describeServer()
}

// portWord says whether a port has to be looked for.
func portWord(port int) string {
	if port == 0 {
		return "it will take any free port"
	}
	return fmt.Sprintf("port %d is free", port)
}

func (c *checkup) describeServer() {
	restart := fmt.Sprintf("stop it with `kill %d`, then start it with `opentabs serve`", c.server.PID)
	uptime := time.Duration(c.status.UptimeMs) * time.Millisecond
	says := fmt.Sprintf("%s, on port %d, up %s", c.server, c.server.Port, terminal.Elapsed(uptime))
	switch {
	case c.server.Version != version.Version:
		c.warn("server", fmt.Sprintf("%s; this program is %s", says, version.Version), restart)
	case c.settings.Port != 0 && c.settings.Port != c.server.Port:
		c.warn("server", fmt.Sprintf("%s; the settings say port %d", says, c.settings.Port), restart+"; then run `opentabs extension install` and reload the extension")
	default:
		c.ok("server", "%s", says)
	}
}

const writeAgain = "run `opentabs extension install`, then press the extension's reload button in chrome://extensions"

func (c *checkup) checkExtension() {
	dir, ok := extensiondir.Find(c.dirs)
	if !ok {
		c.warn("extension", "it was not written yet", "run `opentabs extension install`, which says how to load it")
		return
	}
	written, err := extensiondir.ReadConnection(dir)
	if err != nil {
		c.fail("extension", fmt.Sprintf("%s in %s cannot be read: %v", extensiondir.ConnectionFile, dir, err), writeAgain)
		return
	}
	port := c.settings.Port
	if c.status != nil {
		port = c.server.Port
	}
	token, tokenErr := c.dirs.ExistingToken()
	switch {
	case port != 0 && written.Port != port:
		c.fail("extension", fmt.Sprintf("the one in %s looks for the server on port %d, not on %d", dir, written.Port, port), writeAgain)
	case tokenErr == nil && written.Key != config.BrowserKey(token):
		c.fail("extension", fmt.Sprintf("the one in %s has another key", dir), writeAgain)
	default:
		c.compareExtension(dir)
	}
}

// compareExtension holds the files in dir against those of this program.
func (c *checkup) compareExtension(dir string) {
	files, err := jsbuild.Extension(version.Version)
	if err != nil {
		c.fail("extension", err.Error(), "report this as a bug of opentabs")
		return
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			c.warn("extension", fmt.Sprintf("the one in %s is not that of this program (%s)", dir, version.Version), writeAgain)
			return
		}
	}
	c.ok("extension", "%s, in %s", version.Version, dir)
}

const userScripts = "open the extension's details in chrome://extensions of that browser and switch on \"Allow User Scripts\""

func (c *checkup) checkBrowsers() {
	switch {
	case c.status == nil:
		c.warn("browsers", "the server has to run to know", "see the line of the server")
		return
	case len(c.status.Browsers) == 0:
		c.warn("browsers", "none is connected", "open Chrome with the extension (`opentabs extension install` says how); its side panel says what is in the way")
		return
	}
	for _, b := range c.status.Browsers {
		says := fmt.Sprintf("%s, extension %s", b.Name, b.Version)
		var stale []string
		for _, t := range b.Tabs {
			if len(t.NeedsReload) > 0 {
				stale = append(stale, fmt.Sprint(t.TabID))
			}
		}
		switch {
		case !b.Connected:
			c.warn("browsers", says+"; its link is lost", "look whether that browser still runs; it connects again by itself")
		case b.Inject == wire.InjectNone:
			c.fail("browsers", says+"; it cannot run plugins", userScripts)
		case b.Version != version.Version:
			c.warn("browsers", fmt.Sprintf("%s; this program is %s", says, version.Version), writeAgain)
		case b.Inject == wire.InjectFiles:
			c.warn("browsers", says+"; it runs plugins from files, so new ones wait for a reload of the extension", userScripts)
		case stale != nil:
			c.warn("browsers", fmt.Sprintf("%s; tabs that are older than their plugins: %s", says, strings.Join(stale, ", ")), "reload them, or let a call do it")
		default:
			c.ok("browsers", "%s, user scripts allowed, %s", says, terminal.Plural(len(b.Tabs), "tab")+" with a plugin")
		}
	}
}

func (c *checkup) checkPlugins() {
	plugins, failed, err := c.plugins()
	switch {
	case err != nil:
		c.fail("plugins", err.Error(), "correct that; `opentabs plugin list` shows what can be read")
		return
	case len(plugins)+len(failed) == 0:
		c.warn("plugins", "there are none", "add one with `opentabs plugin add PATH`")
		return
	}
	for _, f := range failed {
		c.fail("plugins", fmt.Sprintf("%s: %s", f.Path, f.Error), "mend or build it, or take it out with `opentabs plugin remove`")
	}
	usable, tools := 0, 0
	for _, p := range plugins {
		switch {
		case p.Source == string(plugin.SourceGlobal) && !p.Reviewed: // nobody has asked for it
		case p.Changed:
			c.warn("plugins", p.Name+" has changed since it was reviewed, so no agent can use it", "look at it with `opentabs plugin review "+p.Name+"`")
		case !p.Reviewed:
			c.warn("plugins", p.Name+" is not reviewed, so no agent can use it", "look at it with `opentabs plugin review "+p.Name+"`")
		case p.Permission == wire.PermissionOff:
			c.warn("plugins", p.Name+" is off, so no agent can use it", "set it with `opentabs plugin permission "+p.Name+" ask`, or remove it")
		case p.Fault != nil:
			c.fail("plugins", p.Name+" "+p.Fault.Text, "repair or update it, or remove it with `opentabs plugin remove "+p.Name+"`; `opentabs logs --plugin "+p.Name+"` may say more")
		case len(p.Needs) > 0:
			c.warn("plugins", p.Name+" lacks settings that it needs: "+strings.Join(p.Needs, ", "), "set them with `opentabs plugin configure "+p.Name+"`")
		default:
			usable, tools = usable+1, tools+len(p.Tools)
		}
	}
	if usable > 0 {
		c.ok("plugins", "%s with %s can be used", terminal.Plural(usable, "plugin"), terminal.Plural(tools, "tool"))
	}
	if c.status != nil {
		for _, problem := range c.status.Permissions {
			c.warn("plugins", problem, "set the permission again with `opentabs plugin permission`")
		}
	}
}

// plugins asks the server, and reads them itself if none runs.
func (c *checkup) plugins() ([]httpapi.Plugin, []httpapi.FailedPlugin, error) {
	if c.status != nil {
		return c.status.Plugins, c.status.Failed, nil
	}
	h := c.home()
	registry := plugin.NewRegistry(h.Store(), zerolog.Nop())
	if err := h.DiscoverGlobal(registry); err != nil {
		c.warn("plugins", err.Error(), "mend npm's settings, or set discoverGlobal to \"off\"")
	}
	if err := registry.Reload(); err != nil {
		return nil, nil, err
	}
	set := registry.Set()
	policy := plugin.NewPolicy(c.dirs.State, registry.Set, plugin.PolicyOptions{})
	local := permissions.NewLocal(policy, registry)
	var plugins []httpapi.Plugin
	for _, p := range set.Plugins() {
		plugins = append(plugins, local.Status(p))
	}
	var failed []httpapi.FailedPlugin
	for _, f := range set.Failed() {
		failed = append(failed, permissions.FailedStatus(f))
	}
	return plugins, failed, nil
}
