package plugin

import (
	"fmt"
	"strings"
)

// settle makes the plugin work in the sites that its url settings name, and finds
// the page to open. It is called before anybody else sees the plugin.
func (p *Plugin) settle(v *Values) {
	p.Instances = v.instances(p)
	for _, one := range p.Instances {
		host, _, _ := siteOf(one.URL) // Values has checked it
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

// MayOpen reports whether a call that finds no tab of the plugin may open its page.
func (p *Policy) MayOpen(name string) bool {
	one, ok := p.set().Plugin(name)
	if !ok || one.OpensAt == "" {
		return false
	}
	s := p.stateOf(name, one)
	return s.Reviewed && s.OpenTabs == one.OpensAt
}

// SetOpening says whether calls that find no tab of a plugin may open its page in
// the background. It holds for the page that the plugin has now: if another
// version names another page, it is asked for again.
func (p *Policy) SetOpening(name string, allowed bool, by string) error {
	one, err := p.plugin(name)
	if err != nil {
		return err
	}
	at := ""
	if allowed {
		if at = one.OpensAt; at == "" {
			return fmt.Errorf("the plugin %s has no page that could be opened: none of its sites is named without a wildcard", name)
		}
		if !p.stateOf(name, one).Reviewed {
			return p.notReviewed(name)
		}
	}
	change := Change{Kind: "opening", Plugin: name, New: at, By: by}
	return p.change(change, func(entry object) (before string) {
		decode(entry["openTabs"], &before)
		entry.put("openTabs", at)
		return before
	})
}

// notReviewed says that nothing can be allowed yet.
func (p *Policy) notReviewed(name string) error {
	return fmt.Errorf("the plugin %s is not reviewed: look at it and let it in with `opentabs plugin review %s` or in the side panel, then set permissions", name, name)
}
