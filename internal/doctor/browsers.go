package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/internal/humanize"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
	"opentabs/wire"
)

const (
	// allowUserScriptsText is the remedy for a browser that cannot run plugins, because
	// it has neither the permission "Allow User Scripts" nor plugin files.
	allowUserScriptsText = "open the extension's details in chrome://extensions of that browser and turn on \"Allow User Scripts\", which this browser needs for plugins"
	// reloadExtensionText is the remedy for an extension whose folder has newer files
	// than those loaded in Chrome.
	reloadExtensionText    = "press the extension's reload button in chrome://extensions; the folder has the right version already"
	slowRoundTripThreshold = time.Second
)

// browserCheck checks the connected browsers and their tabs.
type browserCheck struct{ *healthCheck }

func (c browserCheck) checkBrowsers(ctx context.Context) {
	if c.status == nil { // without a server, the state of browsers is unknown
		return
	}
	if refusedExtension := c.status.RefusedExtension; refusedExtension != nil {
		c.reportFailure("browsers", fmt.Sprintf("the server refused an extension at %s: %s", refusedExtension.At.Local().Format(time.TimeOnly), strings.TrimSuffix(refusedExtension.Text, ".")),
			updateExtensionText)
	} else if len(c.status.Browsers) == 0 {
		if !c.isExtensionMissing { // if the extension is missing, another finding already describes the cause
			c.reportWarning("browsers", "none is connected", "open Chrome in the profile with the extension; the extension's side panel shows why it does not connect")
		}
		return
	}
	for _, b := range c.status.Browsers {
		c.checkBrowser(b)
		if b.Connected {
			c.checkRoundTrip(ctx, b)
		}
	}
}

func (c browserCheck) checkBrowser(b httpapi.Browser) {
	findingText := fmt.Sprintf("%s, extension %s", b.Name, b.Version)
	switch {
	case !b.Connected:
		c.reportWarning("browsers", findingText+"; it is disconnected", "check that the browser still runs; it reconnects by itself")
		return
	case b.InjectMode == wire.InjectNone:
		c.reportFailure("browsers", findingText+"; it cannot run plugins", allowUserScriptsText)
	case b.Version != version.Version:
		c.reportWarning("browsers", fmt.Sprintf("%s; this program is %s", findingText, version.Version), c.updateRemedy())
	default:
		mode := "user scripts allowed"
		if b.InjectMode == wire.InjectFiles {
			mode = "plugins run from files (optional: turn on \"Allow User Scripts\" to update plugins without reloading the extension)"
		}
		c.reportOK("browsers", "%s, %s, %s with a plugin", findingText, mode, terminal.CountNoun(len(b.Tabs), "tab"))
	}
	if wire.IsBrowserCopy(b.ID) {
		c.reportWarning("browsers", b.Name+" runs a copy of the profile of another connected browser", "remove the extension from one of the two profiles and load it again, so that each has a separate identity")
	}
	c.checkTabs(b)
}

func (c browserCheck) updateRemedy() string {
	if c.isExtensionCurrent {
		return reloadExtensionText
	}
	return updateExtensionText
}

func (c browserCheck) checkTabs(b httpapi.Browser) {
	var staleTabs, unresponsiveTabs, unloadableTabs, notAllowedTabs, brokenPluginTabs []string
	for _, t := range b.Tabs {
		tab := fmt.Sprint(t.TabID)
		switch {
		case t.Unresponsive:
			unresponsiveTabs = append(unresponsiveTabs, tab)
		case t.LoadError == wire.LoadErrorNoAccess:
			notAllowedTabs = append(notAllowedTabs, tab)
		case t.LoadError != "":
			unloadableTabs = append(unloadableTabs, fmt.Sprintf("%s (%s)", tab, t.LoadError))
		case len(t.NeedsReload) > 0:
			staleTabs = append(staleTabs, tab)
		}
		for _, p := range t.BrokenPlugins {
			brokenPluginTabs = append(brokenPluginTabs, fmt.Sprintf("%s in tab %s (%s)", p.Name, tab, p.Problem))
		}
	}
	report := func(tabs []string, findingText, remedy string) {
		if tabs != nil {
			c.reportWarning("tabs", fmt.Sprintf("%s: %s: %s", b.Name, findingText, strings.Join(tabs, ", ")), remedy)
		}
	}
	report(staleTabs, "tabs that are older than their plugins", "reload these tabs, or call a tool in them")
	report(unresponsiveTabs, "the pages of these tabs do not respond", "run `opentabs browser reload-tab TAB`; unsaved input in the page is lost")
	report(unloadableTabs, "Chrome could not load the pages of these tabs", "check the network and the address, then reload these tabs")
	report(notAllowedTabs, "Chrome gives the extension no access to the sites of these tabs", "show the tab, open the side panel of opentabs, and press \"Allow on\" under Browser, Sites in Chrome")
	report(brokenPluginTabs, "adapters that did not start", "repair or update the plugin; `opentabs logs` may show why")
}

func (c browserCheck) checkRoundTrip(ctx context.Context, b httpapi.Browser) {
	client, err := c.client()
	var roundTrip time.Duration
	if err == nil {
		roundTrip, err = client.PingBrowser(ctx, b.ID)
	}
	switch {
	case err != nil:
		c.reportFailure("round trip", err.Error(), "press the extension's reload button in chrome://extensions; if that does not help, restart the browser")
	case roundTrip > slowRoundTripThreshold:
		c.reportWarning("round trip", fmt.Sprintf("%s answered in %s, which is slow", b.Name, humanize.Duration(roundTrip)), "close tabs or programs that keep this computer busy")
	default:
		c.reportOK("round trip", "%s answered in %s", b.Name, humanize.Duration(roundTrip))
	}
}
