package plugin

import (
	"fmt"
	"strings"
)

// maxIconBytes is the largest icon, in bytes; the existing build allows a quarter.
const maxIconBytes = 64 << 10

// parseIcons reads the icons of the plugin; only the first is shown.
func parseIcons(top *fields, p *Plugin) {
	p.Icon = top.icon("iconSvg", p)
	top.icons(p, "iconInactiveSvg", "iconDarkSvg", "iconDarkInactiveSvg")
}

// icons checks icons that no surface shows; with no keys, those of a tool.
func (f *fields) icons(p *Plugin, keys ...string) {
	if len(keys) == 0 {
		keys = []string{"iconSvg", "iconInactiveSvg"}
	}
	for _, key := range keys {
		f.icon(key, p)
	}
}

// icon returns the text of an SVG that may be absent. One that can't be shown is
// left out with a warning: a plugin works without it.
func (f *fields) icon(key string, p *Plugin) string {
	svg := strings.TrimSpace(strings.TrimPrefix(f.optional(key), "\ufeff"))
	switch {
	case svg == "":
		return ""
	case len(svg) > maxIconBytes:
		f.warn(p, key, "has %d bytes, more than the %d allowed, so it is not shown; make it smaller", len(svg), maxIconBytes)
		return ""
	case !strings.HasPrefix(svg, "<svg") && !strings.HasPrefix(svg, "<?xml") && !strings.HasPrefix(svg, "<!--"):
		f.warn(p, key, "is no SVG, so it is not shown; begin it with <svg")
		return ""
	}
	return svg
}

// warn tells what is odd about a member, but does no harm.
func (f *fields) warn(p *Plugin, key, format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf("%s: %s%s %s", f.to.file, f.at, key, fmt.Sprintf(format, args...)))
}
