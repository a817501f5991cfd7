package plugin

import (
	"strings"

	"opentabs/internal/jsonread"
)

// maxIconBytes is the largest icon, in bytes; the existing build allows a quarter.
const maxIconBytes = 64 << 10

// parseIcons reads the icons of the plugin; only the first is shown.
func parseIcons(top *jsonread.Reader, p *Plugin) {
	p.Icon = readIcon(top, "iconSvg", p)
	checkUnusedIcons(top, p, "iconInactiveSvg", "iconDarkSvg", "iconDarkInactiveSvg")
}

// checkUnusedIcons checks icons that no surface shows; with no keys, those of a tool.
func checkUnusedIcons(f *jsonread.Reader, p *Plugin, keys ...string) {
	if len(keys) == 0 {
		keys = []string{"iconSvg", "iconInactiveSvg"}
	}
	for _, key := range keys {
		readIcon(f, key, p)
	}
}

// readIcon returns the text of an SVG that may be absent. One that can't be shown is
// left out with a warning: a plugin works without it.
func readIcon(f *jsonread.Reader, key string, p *Plugin) string {
	svg := strings.TrimSpace(strings.TrimPrefix(f.Optional(key), "\ufeff"))
	switch {
	case svg == "":
		return ""
	case len(svg) > maxIconBytes:
		warnOf(f, p, key, "has %d bytes, more than the %d allowed, so it is not shown; make it smaller", len(svg), maxIconBytes)
		return ""
	case !strings.HasPrefix(svg, "<svg") && !strings.HasPrefix(svg, "<?xml") && !strings.HasPrefix(svg, "<!--"):
		warnOf(f, p, key, "is no SVG, so it is not shown; begin it with <svg")
		return ""
	}
	return svg
}
