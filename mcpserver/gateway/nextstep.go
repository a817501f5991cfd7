package gateway

import (
	"fmt"
	"strings"
	"unicode"
)

// NoPluginAdvice describes for an agent how to use a page for which no plugin is
// installed. The argument hasBrowserTools is true if the permissions allow browser tools.
func NoPluginAdvice(hasBrowserTools bool) string {
	if hasBrowserTools {
		return "Use the tools whose names begin with browser_ for any page."
	}
	return "Or the user can switch on tools for any page: opentabs browser tools on."
}

// LoadErrorAdvice describes for an agent what to do about a plugin that opentabs could
// not load. LoadErrorAdvice omits why loading failed, because the reason could contain
// text that the plugin controls.
const LoadErrorAdvice = "The plugin could not be loaded. Ask the user to run opentabs plugin list, which prints the reason."

// PluginState contains the facts that determine an agent's next step with a plugin.
type PluginState struct {
	Name string
	// IsOff is true if the permissions allow no tool of the plugin. IsNotReviewed is true
	// if the user has not reviewed the plugin.
	IsOff, IsNotReviewed bool
	// State is the state of the plugin: closed, unavailable, failed or ready. NeedsReload
	// is true if the plugin's tools become available after a tab is reloaded.
	State       string
	NeedsReload bool
}

// NextStep describes what an agent should do if no tool of the plugin can run now. If a
// tool of the plugin can run now, NextStep returns "".
func (s PluginState) NextStep() string {
	switch {
	case s.IsNotReviewed:
		return fmt.Sprintf("Ask the user to review and enable the plugin: opentabs plugin review %s.", s.Name)
	case s.IsOff:
		return fmt.Sprintf("Ask the user to switch the plugin on: opentabs plugin permission %s ask.", s.Name)
	case s.State == "closed":
		return "Call a tool of the plugin: opentabs opens the site if the user permits that. If the call fails with no_tab, ask the user to open the site and log in, then call again."
	case s.State == "failed":
		return "Ask the user to reload the tab. If the plugin fails again, ask the user to run opentabs doctor."
	case s.State == "unavailable" && s.NeedsReload:
		return "Call a tool of the plugin: opentabs reloads a tab that the user is not using. Otherwise ask the user to reload the tab."
	case s.State == "unavailable":
		return "The tab still loads, or the user is not logged in there. Call a tool again in a few seconds; if it fails, ask the user to log in in that tab."
	}
	return ""
}

// DescribeWithSite returns a tool's description in which the name of the tool's site
// occurs. If the name is missing, DescribeWithSite puts it before the description. The
// name is added because a tool name contains only the short name of the plugin.
func DescribeWithSite(toolDescription, site string) string {
	if site == "" || strings.Contains(strings.ToLower(toolDescription), strings.ToLower(site)) {
		return toolDescription
	}
	return site + ": " + toolDescription
}

// IsTitleRedundant reports whether a title has the same letters and digits as a name, such as
// "Send Message" and "send_message". Listing a title that repeats the name would cost
// agents tokens without a benefit.
func IsTitleRedundant(title, name string) bool {
	toLowerAlphanumeric := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}
	return strings.Map(toLowerAlphanumeric, title) == strings.Map(toLowerAlphanumeric, name)
}
