package plugin

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"opentabs/internal/lazyregexp"
)

// maxPathWildcards is the maximum number of * in the path of a URL pattern.
const maxPathWildcards = 5

// Pattern is a Chrome match pattern, such as "*://*.example.com/*", that names a host.
// The zero Pattern matches no URL.
type Pattern struct {
	source string
	scheme string
	// The field host is in lower case, without a leading "*.". The field matchesSubdomains is
	// true if the pattern has "*." before the host.
	host              string
	matchesSubdomains bool
	port              string
	path              string
}

// String returns the text from which the pattern was parsed.
func (p Pattern) String() string { return p.source }

var hostLabel = lazyregexp.New(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$`)

// ParsePattern parses a match pattern: scheme, "://", host, optional port, path. The
// scheme is "*", "http" or "https". The host is localhost, an IPv4 address, or a domain
// with an optional leading "*.". The path of a match pattern has at most 5 wildcards.
// ParsePattern rejects patterns for all sites or for a whole top-level domain. The error
// of ParsePattern explains which patterns are allowed.
func ParsePattern(patternText string) (Pattern, error) {
	p := Pattern{source: patternText}
	newPatternError := func(format string, args ...any) (Pattern, error) {
		return Pattern{}, fmt.Errorf("pattern %q %s", patternText, fmt.Sprintf(format, args...))
	}
	if patternText == "<all_urls>" {
		return newPatternError("matches every site; name the site's host, as in *://*.example.com/*")
	}
	scheme, hostAndPath, ok := strings.Cut(patternText, "://")
	if !ok {
		return newPatternError("has no scheme; write it as in *://*.example.com/*")
	}
	if scheme != "*" && scheme != "http" && scheme != "https" {
		return newPatternError("has the scheme %q; use *, http or https", scheme)
	}
	pathStart := strings.IndexByte(hostAndPath, '/')
	if pathStart < 0 {
		return newPatternError("has no path; end it with /*")
	}
	p.scheme, p.path = scheme, hostAndPath[pathStart:]
	if n := strings.Count(p.path, "*"); n > maxPathWildcards {
		return newPatternError("has %d wildcards in its path; use at most %d", n, maxPathWildcards)
	}
	if strings.ContainsAny(p.path, "# \t\r\n") {
		return newPatternError("has a # or a space in its path; leave it out, fragments are never compared")
	}
	if problemText := p.parseHost(hostAndPath[:pathStart]); problemText != "" {
		return newPatternError("%s", problemText)
	}
	return p, nil
}

func (p *Pattern) parseHost(hostPort string) string {
	host, port, hasPort := strings.Cut(hostPort, ":")
	if hasPort {
		if problemText := p.parsePort(port); problemText != "" {
			return problemText
		}
	}
	host = strings.ToLower(host)
	p.host, p.matchesSubdomains = strings.CutPrefix(host, "*.")
	switch {
	case host == "" || host == "*":
		return "matches every host; name the site's host, as in *://*.example.com/*"
	case strings.Contains(p.host, "*"):
		return "has a wildcard inside its host; only a leading *. is allowed"
	case host == "localhost":
		return ""
	}
	hostLabels := strings.Split(p.host, ".")
	for _, label := range hostLabels {
		if !hostLabel().MatchString(label) {
			return fmt.Sprintf("has the host %q; use ASCII letters, digits and hyphens (punycode for others) with single dots between", host)
		}
	}
	if _, err := strconv.ParseUint(hostLabels[len(hostLabels)-1], 10, 64); err == nil {
		if addr, err := netip.ParseAddr(p.host); err != nil || !addr.Is4() || p.matchesSubdomains {
			return fmt.Sprintf("has the host %q; write an IPv4 address with four numbers up to 255 and no wildcard", host)
		}
		return ""
	}
	if len(hostLabels) < 2 {
		if p.matchesSubdomains {
			return "takes in a whole top-level domain; name the site's host, as in *://*.example.com/*"
		}
		return fmt.Sprintf("has the host %q; use localhost, an IPv4 address or a full domain such as example.com", host)
	}
	return ""
}

func (p *Pattern) parsePort(port string) string {
	if port == "*" {
		return ""
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return fmt.Sprintf("has the port %q; use a number from 1 to 65535 or leave it out for any port", port)
	}
	p.port = strconv.FormatUint(n, 10)
	return ""
}

// Match reports whether the pattern matches url by the rules of Chrome. A pattern without a port matches any port, and
// the pattern *.example.com matches example.com. The path of a pattern is compared with the URL's path and query
// string, but not with the fragment.
func (p Pattern) Match(url string) bool {
	u, ok := splitURL(url)
	if !ok || p.scheme == "" {
		return false
	}
	if p.scheme != "*" && p.scheme != u.scheme {
		return false
	}
	if u.host != p.host && !(p.matchesSubdomains && strings.HasSuffix(u.host, "."+p.host)) {
		return false
	}
	if p.port != "" && p.port != u.port {
		return false
	}
	return u.path+"/*" == p.path || matchGlob(p.path, u.path)
}

func matchesAny(patterns []Pattern, url string) bool {
	for _, p := range patterns {
		if p.Match(url) {
			return true
		}
	}
	return false
}

// urlParts are the parts of a URL that [Pattern.Match] compares.
type urlParts struct{ scheme, host, port, path string }

// splitURL splits an absolute http or https URL without decoding escapes, because Chrome
// compares the path as written.
func splitURL(url string) (urlParts, bool) {
	var u urlParts
	scheme, hostAndPath, ok := strings.Cut(url, "://")
	u.scheme = strings.ToLower(scheme)
	hostAndPath, _, _ = strings.Cut(hostAndPath, "#")
	site, _, _ := strings.Cut(hostAndPath, "?")
	if !ok || u.scheme != "http" && u.scheme != "https" || strings.ContainsAny(site, "\\ \t\r\n") {
		return u, false // in a URL from a browser, neither a blank nor a backslash precedes ? or #
	}
	hostAndPort := hostAndPath
	if i := strings.IndexAny(hostAndPath, "/?"); i >= 0 {
		hostAndPort, u.path = hostAndPath[:i], hostAndPath[i:]
	}
	if !strings.HasPrefix(u.path, "/") {
		u.path = "/" + u.path
	}
	hostAndPort = hostAndPort[strings.LastIndexByte(hostAndPort, '@')+1:]
	u.host = strings.ToLower(hostAndPort)
	if i := strings.LastIndexByte(hostAndPort, ':'); i >= 0 && !strings.HasSuffix(hostAndPort, "]") {
		u.host, u.port = strings.ToLower(hostAndPort[:i]), hostAndPort[i+1:]
	}
	u.host = strings.TrimSuffix(u.host, ".")
	if u.port == "" {
		u.port = map[string]string{"http": "80", "https": "443"}[u.scheme]
	}
	return u, u.host != ""
}

// A "*" in pattern matches any text, including an empty text.
func matchGlob(pattern, s string) bool {
	textParts := strings.Split(pattern, "*")
	if len(textParts) == 1 {
		return pattern == s
	}
	firstPart, lastPart := textParts[0], textParts[len(textParts)-1]
	if !strings.HasPrefix(s, firstPart) || !strings.HasSuffix(s[len(firstPart):], lastPart) {
		return false
	}
	s = s[len(firstPart) : len(s)-len(lastPart)]
	for _, textPart := range textParts[1 : len(textParts)-1] {
		i := strings.Index(s, textPart)
		if i < 0 {
			return false
		}
		s = s[i+len(textPart):]
	}
	return true
}
