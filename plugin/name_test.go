package plugin

import (
	"strings"
	"testing"
)

func TestNameOf(t *testing.T) {
	for _, c := range []struct{ pkg, want, problem string }{
		{pkg: "opentabs-plugin-slack", want: "slack"},
		{pkg: "@opentabs-dev/opentabs-plugin-slack", want: "slack"},
		{pkg: "@acme/opentabs-plugin-slack", want: "acme-slack"},
		{pkg: "@my-org/opentabs-plugin-google-maps", want: "my-org-google-maps"},
		{pkg: "opentabs-plugin-1", want: "1"},
		{pkg: "slack", problem: "call the package opentabs-plugin-NAME"},
		{pkg: "@acme", problem: "is not an npm package name"},
		{pkg: "@/opentabs-plugin-x", problem: "is not an npm package name"},
		{pkg: "@acme/slack", problem: "does not name a plugin"},
		{pkg: "opentabs-plugin-", problem: "is empty"},
		{pkg: "opentabs-plugin-Slack", problem: "lower-case"},
		{pkg: "opentabs-plugin-a--b", problem: "single hyphens"},
		{pkg: "opentabs-plugin--a", problem: "single hyphens"},
		{pkg: "opentabs-plugin-a_b", problem: "lower-case"},
		{pkg: "@a.b/opentabs-plugin-x", problem: "lower-case"},
		{pkg: "opentabs-plugin-a/../../b", problem: "lower-case"},
		{pkg: "opentabs-plugin-browser", problem: "reserved"},
		{pkg: "@opentabs-dev/opentabs-plugin-mcp", problem: "reserved"},
		{pkg: "opentabs-plugin-tools", problem: "reserved"},
		{pkg: "opentabs-plugin-web", problem: "reserved"},
		{pkg: "opentabs-plugin-webmcp", problem: "reserved"},
		{pkg: "opentabs-plugin-job", problem: "reserved"},
		{pkg: "opentabs-plugin-opentabs", problem: "reserved"},
		{pkg: "@acme/opentabs-plugin-tools", want: "acme-tools"},
	} {
		got, err := NameOf(c.pkg)
		if c.problem == "" {
			if err != nil || got != c.want {
				t.Errorf("%s: %q, %v, want %q", c.pkg, got, err, c.want)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %q, %v, want an error with %q", c.pkg, got, err, c.problem)
		}
	}
}
