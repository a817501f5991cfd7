package plugin

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"opentabs/internal/jsonread"
	"opentabs/internal/plaintext"
)

func truncateMember(f *jsonread.Reader, p *Plugin, key, memberValue string, maxChars int) string {
	n := utf8.RuneCountInString(memberValue)
	if n <= maxChars {
		return memberValue
	}
	addWarning(f, p, key, "has %d characters, more than the %d that are shown; it is cut", n, maxChars)
	return plaintext.Clean(memberValue, maxChars)
}

func readTruncatedText(f *jsonread.Reader, p *Plugin, key string, maxChars int) string {
	return truncateMember(f, p, key, f.OptionalText(key), maxChars)
}

func addWarning(f *jsonread.Reader, p *Plugin, key, format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf("%s: %s%s %s", f.Problems.File, f.Path, key, fmt.Sprintf(format, args...)))
}

const (
	minTimeout = time.Second
	maxTimeout = 5 * time.Minute
)

// A limit of zero means that the server's default limit applies.
func readTimeouts(f *jsonread.Reader) (idleTimeout, hardTimeout time.Duration) {
	limits := f.Object("limits")
	if limits == nil {
		return 0, 0
	}
	return readTimeout(limits, "idleTimeoutMs"), readTimeout(limits, "hardTimeoutMs")
}

func readTimeout(f *jsonread.Reader, key string) time.Duration {
	if !f.Has(key) {
		return 0
	}
	rawJSON := f.Members[key]
	ms, err := strconv.Atoi(string(rawJSON))
	d := time.Duration(ms) * time.Millisecond
	if err != nil || ms > int(maxTimeout/time.Millisecond) || d < minTimeout {
		f.Add(key, "is %.40s; use a whole number of milliseconds from %d to %d", rawJSON, minTimeout.Milliseconds(), maxTimeout.Milliseconds())
		return 0
	}
	return d
}

// maxIconBytes is the maximum size of a plugin's icon, in bytes.
const maxIconBytes = 64 << 10

// Surfaces show only the icon in the member iconSvg.
func parseIcons(manifestReader *jsonread.Reader, p *Plugin) {
	p.Icon = readIcon(manifestReader, "iconSvg", p)
	checkUnusedIcons(manifestReader, p, "iconInactiveSvg", "iconDarkSvg", "iconDarkInactiveSvg")
}

func checkUnusedIcons(f *jsonread.Reader, p *Plugin, keys ...string) {
	if len(keys) == 0 {
		keys = []string{"iconSvg", "iconInactiveSvg"}
	}
	for _, key := range keys {
		readIcon(f, key, p)
	}
}

func readIcon(f *jsonread.Reader, key string, p *Plugin) string {
	svg := strings.TrimSpace(strings.TrimPrefix(f.OptionalText(key), "\ufeff"))
	switch {
	case svg == "":
		return ""
	case len(svg) > maxIconBytes:
		addWarning(f, p, key, "has %d bytes, more than the %d allowed, so it is not shown; make it smaller", len(svg), maxIconBytes)
		return ""
	case !strings.HasPrefix(svg, "<svg") && !strings.HasPrefix(svg, "<?xml") && !strings.HasPrefix(svg, "<!--"):
		addWarning(f, p, key, "is no SVG, so it is not shown; begin it with <svg")
		return ""
	}
	return svg
}
