package plugin

import (
	"strings"

	"opentabs/dispatch"
)

// settle makes the plugin work in the sites that its url settings name, and finds
// the page to open. It is called before anybody else sees the plugin.
func (p *Plugin) settle(instances []dispatch.Instance) {
	p.Instances = instances
	for _, one := range p.Instances {
		host, _, _ := ParseSite(one.URL) // Values has checked it
		if pattern, err := patternOf(host); err == nil {
			p.Matches, p.matches = append(p.Matches, pattern.text), append(p.matches, pattern)
		}
	}
	p.OpensAt = p.opensAt()
}

// opensAt is the page to open for a call that finds no tab: the first URL that the
// person has set, else the homepage if the plugin works there, else the first of
// its sites.
func (p *Plugin) opensAt() string {
	var pages []string
	for _, one := range p.Instances {
		pages = append(pages, one.URL)
	}
	if p.Homepage != "" {
		pages = append(pages, p.Homepage)
	}
	for _, pattern := range p.matches {
		pages = append(pages, pattern.page())
	}
	for _, page := range pages {
		if p.MatchesURL(page) {
			return page
		}
	}
	return ""
}

// page is the URL that a pattern takes in and that is most likely to be there:
// its path up to the first wildcard.
func (p Pattern) page() string {
	scheme := p.scheme
	if scheme == "*" {
		scheme = "https"
		if p.host == "localhost" || p.host == "127.0.0.1" {
			scheme = "http"
		}
	}
	host := p.host
	if p.port != "" {
		host += ":" + p.port
	}
	path, _, _ := strings.Cut(p.path, "*")
	return scheme + "://" + host + path
}
