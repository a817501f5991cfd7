package plugin

import (
	"strings"
	"testing"
)

func TestPluginNameFromPackageName(t *testing.T) {
	for _, c := range []struct{ pkg, want, problemText string }{
		{pkg: "opentabs-plugin-slack", want: "slack"},
		{pkg: "@opentabs-dev/opentabs-plugin-slack", want: "slack"},
		{pkg: "@acme/opentabs-plugin-slack", want: "acme-slack"},
		{pkg: "@my-org/opentabs-plugin-google-maps", want: "my-org-google-maps"},
		{pkg: "opentabs-plugin-1", want: "1"},
		{pkg: "slack", problemText: "call the package opentabs-plugin-NAME"},
		{pkg: "@acme", problemText: "is not an npm package name"},
		{pkg: "@/opentabs-plugin-x", problemText: "is not an npm package name"},
		{pkg: "@acme/slack", problemText: "does not name a plugin"},
		{pkg: "opentabs-plugin-", problemText: "is empty"},
		{pkg: "opentabs-plugin-Slack", problemText: "lower-case"},
		{pkg: "opentabs-plugin-a--b", problemText: "single hyphens"},
		{pkg: "opentabs-plugin--a", problemText: "single hyphens"},
		{pkg: "opentabs-plugin-a_b", problemText: "lower-case"},
		{pkg: "@a.b/opentabs-plugin-x", problemText: "lower-case"},
		{pkg: "opentabs-plugin-a/../../b", problemText: "lower-case"},
		{pkg: "opentabs-plugin-browser", problemText: "reserved"},
		{pkg: "@opentabs-dev/opentabs-plugin-mcp", problemText: "reserved"},
		{pkg: "opentabs-plugin-tools", problemText: "reserved"},
		{pkg: "opentabs-plugin-web", problemText: "reserved"},
		{pkg: "opentabs-plugin-webmcp", problemText: "reserved"},
		{pkg: "opentabs-plugin-job", problemText: "reserved"},
		{pkg: "opentabs-plugin-opentabs", problemText: "reserved"},
		{pkg: "@acme/opentabs-plugin-tools", want: "acme-tools"},
	} {
		got, err := NameOf(c.pkg)
		if c.problemText == "" {
			if err != nil || got != c.want {
				t.Errorf("NameOf(%s) = %q, error %v; want %q", c.pkg, got, err, c.want)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.problemText) {
			t.Errorf("NameOf(%s) = %q, error %v; want an error with %q", c.pkg, got, err, c.problemText)
		}
	}
}
