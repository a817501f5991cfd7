package plugin

import (
	"fmt"
	"net/url"
	"strings"

	"opentabs/internal/plaintext"
)

// maxURLChars is the maximum length of a URL in the user's settings, in characters.
const maxURLChars = 2048

// ParseSite parses a URL from the user into host[:port] and a key for comparing sites.
// ParseSite omits the default port from the host. The sites localhost, 127.0.0.1 and
// [::1] have the same key.
func ParseSite(siteText string) (host, hostKey, problemText string) {
	u, err := url.Parse(siteText)
	switch {
	case siteText == "":
		return "", "", "has a URL that is empty; write it as in https://example.com"
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || len(siteText) > maxURLChars:
		return "", "", fmt.Sprintf("is %q; use an http or https URL, as in https://example.com", plaintext.Shorten(siteText))
	case u.User != nil:
		return "", "", "has a name or a password in its URL; take it out, the browser is logged in already"
	}
	name, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		port = ""
	}
	host, hostKey = name, name
	if name == "127.0.0.1" || name == "::1" {
		hostKey = "localhost"
	}
	if port != "" {
		host, hostKey = host+":"+port, hostKey+":"+port
	}
	if _, err := patternForHost(host); err != nil {
		return "", "", err.Error()
	}
	return host, hostKey, ""
}

// Unlike a pattern in a package, a site in the settings can be a name without a dot, as in a company network.
func patternForHost(host string) (Pattern, error) {
	p := Pattern{source: "*://" + host + "/*", scheme: "*", path: "/*"}
	problemText := p.parseHost(host)
	if name, port, _ := strings.Cut(host, ":"); problemText != "" && hostLabel().MatchString(strings.ToLower(name)) {
		p.host, problemText = strings.ToLower(name), ""
		if strings.Contains(host, ":") {
			problemText = p.parsePort(port)
		}
	}
	if problemText != "" || p.matchesSubdomains {
		return p, fmt.Errorf("has a URL with the host %q, which browser extensions cannot access; use a host name or an IPv4 address", plaintext.Shorten(host))
	}
	return p, nil
}
