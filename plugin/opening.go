package plugin

import (
	"strings"

	"opentabs/dispatch"
)

// Call addInstancePatterns before another goroutine can see the plugin.
func (p *Plugin) addInstancePatterns(instances []dispatch.Instance) {
	p.Instances = instances
	for _, instance := range p.Instances {
		host, _, _ := ParseSite(instance.URL) // package settings has already rejected invalid URLs
		if pattern, err := patternForHost(host); err == nil {
			p.Matches, p.matches = append(p.Matches, pattern.source), append(p.matches, pattern)
		}
	}
	p.OpenURL = p.chooseOpenURL()
}

func (p *Plugin) chooseOpenURL() string {
	var reviewPages []string
	for _, instance := range p.Instances {
		reviewPages = append(reviewPages, instance.URL)
	}
	if p.Homepage != "" {
		reviewPages = append(reviewPages, p.Homepage)
	}
	for _, pattern := range p.matches {
		reviewPages = append(reviewPages, pattern.deriveOpenURL())
	}
	for _, page := range reviewPages {
		if p.MatchesURL(page) {
			return page
		}
	}
	return ""
}

func (p Pattern) deriveOpenURL() string {
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
