package npm

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// registryLogin contains the credentials for all addresses that begin with host and path.
type registryLogin struct {
	host string // the field host includes the port, unless it is the default port of the scheme
	path string // the field path begins and ends with a slash
	// The field header is the value of the Authorization header.
	header  string
	problem string
	source  string
}

const (
	keyToken    = "_authToken"
	keyAuth     = "_auth"
	keyUser     = "username"
	keyPassword = "_password"
)

func (c *Config) findLogins() {
	seen := map[string]bool{}
	for key := range c.values {
		address, ok := splitLogin(key)
		if !ok || seen[address] {
			continue
		}
		seen[address] = true
		c.logins = append(c.logins, c.loginSetting(address))
	}
	slices.SortFunc(c.logins, func(a, b registryLogin) int { return len(b.path) - len(a.path) })
}

func splitLogin(key string) (address string, ok bool) {
	i := strings.LastIndexByte(key, ':')
	if !strings.HasPrefix(key, "//") || i < 0 || !slices.Contains([]string{keyToken, keyAuth, keyUser, keyPassword}, key[i+1:]) {
		return "", false
	}
	return key[:i], true
}

// loginSetting returns the login that npm's settings define for an address, such as
// "//registry.example/".
func (c *Config) loginSetting(address string) registryLogin {
	host, path, _ := strings.Cut(strings.TrimPrefix(address, "//"), "/")
	l := registryLogin{host: strings.ToLower(host), path: "/" + strings.Trim(path, "/") + "/"}
	if l.path == "//" {
		l.path = "/"
	}
	getAttribute := func(attribute string) string {
		s, ok := c.values[address+":"+attribute]
		if ok {
			l.source = s.source
		}
		if hasUnsetVariable(s.text) {
			l.problem = "the variable in " + s.text + " is not set"
		}
		return s.text
	}
	token, authText, user, password := getAttribute(keyToken), getAttribute(keyAuth), getAttribute(keyUser), getAttribute(keyPassword)
	decodedPassword, err := base64.StdEncoding.DecodeString(password)
	switch {
	case l.problem != "":
	case token != "":
		l.header = "Bearer " + token
	case authText != "":
		l.header = "Basic " + authText
	case user != "" && password != "" && err == nil:
		l.header = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+string(decodedPassword)))
	case user != "" && password != "":
		l.problem = "the password is not encoded in base64, as npm requires"
	default:
		l.problem = "the user or the password is missing"
	}
	return l
}

// If several logins match, loginFor returns the login with the longest path.
func (c *Config) loginFor(u *url.URL) (registryLogin, bool) {
	host := strings.ToLower(u.Host)
	hostWithoutPort := strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
	path := strings.TrimSuffix(u.EscapedPath(), "/") + "/"
	if u.User != nil || strings.Contains(path, "/../") || strings.Contains(path, "/./") {
		return registryLogin{}, false
	}
	for _, l := range c.logins {
		if (l.host == host || l.host == hostWithoutPort) && strings.HasPrefix(path, l.path) {
			return l, true
		}
	}
	return registryLogin{}, false
}
