package plugin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/lazyregexp"
)

// maxPluginNameChars is the maximum length of a plugin name, in characters. MCP clients accept
// 128 characters for the plugin name, "__" and the tool name together.
const maxPluginNameChars = 64

const (
	packagePrefix = "opentabs-plugin-"
	// officialScope is an npm scope that plugin names leave out. Two packages that differ
	// only in officialScope have the same plugin name.
	officialScope = "@opentabs-dev/"
)

var namePattern = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// reservedNames are names that opentabs uses itself, so no plugin can have them.
var reservedNames = []string{"system", "browser", "opentabs", "extension", "config", "plugin", "tool", "tools", "mcp", "web", "webmcp", "job"}

// BuiltinToolNames are the names of the tools that opentabs itself offers to agents.
var BuiltinToolNames = []string{
	"job_wait", "job_result", "job_cancel", "job_list", "plugin_list_tabs", "plugin_inspect", "plugin_mark_reviewed",
	"tools_search", "tools_describe", "tools_call", "tools_read",
}

// NameOf derives a plugin's name from the npm name of its package. The packages
// opentabs-plugin-x and @opentabs-dev/opentabs-plugin-x are named x;
// @acme/opentabs-plugin-x is named acme-x. The error for an invalid package name
// describes the allowed names.
func NameOf(packageName string) (string, error) {
	unscopedName, scope := packageName, ""
	if strings.HasPrefix(packageName, "@") {
		s, r, ok := strings.Cut(packageName, "/")
		if !ok || s == "@" {
			return "", fmt.Errorf("%q is not an npm package name; call the package @scope/%sNAME or %[2]sNAME", packageName, packagePrefix)
		}
		unscopedName = r
		if s+"/" != officialScope {
			scope = s[1:] + "-"
		}
	}
	shortName, ok := strings.CutPrefix(unscopedName, packagePrefix)
	if !ok {
		return "", fmt.Errorf("%q does not name a plugin; call the package %sNAME or @scope/%[2]sNAME", packageName, packagePrefix)
	}
	name := scope + shortName
	if err := CheckName(name); err != nil {
		return "", err
	}
	return name, nil
}

// CheckName returns an error for an invalid plugin name. The error of CheckName describes
// the allowed plugin names.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the plugin's name is empty; write it after " + packagePrefix)
	case len(name) > maxPluginNameChars:
		return fmt.Errorf("the plugin's name has %d characters; use at most %d", len(name), maxPluginNameChars)
	case !namePattern().MatchString(name):
		return fmt.Errorf("%q is not a plugin name; use lower-case letters and digits with single hyphens between them", name)
	case slices.Contains(reservedNames, name):
		return fmt.Errorf("%q is reserved; choose a name other than %s", name, strings.Join(reservedNames, ", "))
	}
	return nil
}
