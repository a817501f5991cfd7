package browser

import (
	"maps"
	"net"
	"net/url"
	"strings"

	"opentabs/plugin/policy"
)

// No tool is allowed to run in a frame that shows the daemon's own address.
func (s *siteGate) frameRules(class toolClass, address string) map[string]bool {
	rules := map[string]bool{}
	for pattern, siteEntry := range s.rules.All() {
		switch {
		case siteEntry.Rule == "":
		case class == classDangerous:
			rules[pattern] = siteEntry.Rule == policy.SiteAuto && policy.IsSiteExact(pattern)
		default:
			rules[pattern] = siteEntry.Rule != policy.SiteOff && (siteEntry.Rule != policy.SiteRead || class == classRead)
		}
	}
	if class == classDangerous { // the approval covers the page's site, but not the sites of its frames
		rules["*"] = false
		rules[hostPortOf(address)] = true
	}
	if _, port, err := net.SplitHostPort(s.ownAddress); err == nil {
		maps.Copy(rules, map[string]bool{"127.0.0.1:" + port: false, "localhost:" + port: false, "[::1]:" + port: false})
	}
	return rules
}

func hostPortOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port)
}
