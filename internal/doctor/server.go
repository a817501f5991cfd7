package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/internal/portowner"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
	"opentabs/wire"
)

func (c *checkup) checkServer(ctx context.Context) {
	if !c.settingsValid {
		c.fail("server", "its port is unknown", "correct the settings first")
		return
	}
	server, err := c.findHome().FindServer(ctx)
	switch {
	case errors.Is(err, httpapi.ErrNoServer):
		c.warn("server", "not running; "+portState(c.settings.Port), "start it with `opentabs serve`; an MCP client that runs `opentabs mcp` starts it too")
		return
	case errors.Is(err, httpapi.ErrForeignServer):
		c.fail("server", fmt.Sprintf("port %d is in use by %s, which is not the server of this installation", c.settings.Port, portowner.Find(ctx, c.settings.Port)),
			"stop that program, choose another port with OPENTABS_PORT, or, if that server is yours, set OPENTABS_HOME to its directory")
		return
	case err != nil:
		c.fail("server", err.Error(), "stop that program, then start the server with `opentabs serve`")
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
		c.fail("server", fmt.Sprintf("%s, on port %d, did not return its status: %v", server, server.Port, err), fmt.Sprintf("stop it with `kill %d` and start it again", server.PID))
		return
	}
	c.compareServer()
}

// portState describes a port on which no server listens.
func portState(port int) string {
	if port == 0 {
		return "it will use any free port"
	}
	return fmt.Sprintf("port %d is free", port)
}

// compareServer compares the version of the running server with the program's version,
// and the server's port with the settings.
func (c *checkup) compareServer() {
	restartText := fmt.Sprintf("stop it with `kill %d`, then start it with `opentabs serve`", c.server.PID)
	uptime := time.Duration(c.status.UptimeMs) * time.Millisecond
	fact := fmt.Sprintf("%s, on port %d, up %s", c.server, c.server.Port, terminal.Elapsed(uptime))
	switch {
	case c.server.Version != version.Version:
		c.warn("server", fmt.Sprintf("%s; this program is %s", fact, version.Version), restartText)
	case c.settings.Port != 0 && c.settings.Port != c.server.Port:
		c.warn("server", fmt.Sprintf("%s; the settings have port %d", fact, c.settings.Port), restartText+"; then run `opentabs extension install` and reload the extension")
	default:
		c.ok("server", "%s", fact)
	}
}

const allowUserScriptsText = "open the extension's details in chrome://extensions of that browser and switch on \"Allow User Scripts\""

func (c *checkup) checkBrowsers() {
	switch {
	case c.status == nil:
		c.warn("browsers", "unknown, because no server returned its status", "see the line of the server")
		return
	case len(c.status.Browsers) == 0:
		c.warn("browsers", "none is connected", "open Chrome with the extension (`opentabs extension install` prints how to load it); its side panel shows why it does not connect")
		return
	}
	for _, b := range c.status.Browsers {
		c.checkBrowser(b)
	}
}

func (c *checkup) checkBrowser(b httpapi.Browser) {
	fact := fmt.Sprintf("%s, extension %s", b.Name, b.Version)
	var staleTabs []string
	for _, t := range b.Tabs {
		if len(t.NeedsReload) > 0 {
			staleTabs = append(staleTabs, fmt.Sprint(t.TabID))
		}
	}
	switch {
	case !b.Connected:
		c.warn("browsers", fact+"; it is disconnected", "check that the browser still runs; it reconnects by itself")
	case b.InjectMode == wire.InjectNone:
		c.fail("browsers", fact+"; it cannot run plugins", allowUserScriptsText)
	case b.Version != version.Version:
		c.warn("browsers", fmt.Sprintf("%s; this program is %s", fact, version.Version), updateExtensionText)
	case b.InjectMode == wire.InjectFiles:
		c.warn("browsers", fact+"; it runs plugins from files, so a new plugin needs a reload of the extension", allowUserScriptsText)
	case staleTabs != nil:
		c.warn("browsers", fmt.Sprintf("%s; tabs that are older than their plugins: %s", fact, strings.Join(staleTabs, ", ")), "reload these tabs, or call a tool in them")
	default:
		c.ok("browsers", "%s, user scripts allowed, %s with a plugin", fact, terminal.Plural(len(b.Tabs), "tab"))
	}
}
