package npm

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// registryLogin contains the credentials for all addresses that begin with host and path.
type registryLogin struct {
	host string // host includes the port, unless it is the default port of the scheme
	path string // path begins and ends with a slash
	// header is the value of the Authorization header.
	header      string
	problemText string
	source      string
}

const (
	tokenKey    = "_authToken"
	authKey     = "_auth"
	userKey     = "username"
	passwordKey = "_password"
)

func (c *Config) findLogins() {
	seenNames := map[string]bool{}
	for key := range c.values {
		address, ok := splitLogin(key)
		if !ok || seenNames[address] {
			continue
		}
		seenNames[address] = true
		c.logins = append(c.logins, c.readLogin(address))
	}
	slices.SortFunc(c.logins, func(a, b registryLogin) int { return len(b.path) - len(a.path) })
}

func splitLogin(key string) (address string, ok bool) {
	i := strings.LastIndexByte(key, ':')
	if !strings.HasPrefix(key, "//") || i < 0 || !slices.Contains([]string{tokenKey, authKey, userKey, passwordKey}, key[i+1:]) {
		return "", false
	}
	return key[:i], true
}

// readLogin returns the login that npm's settings define for an address, such as
// "//registry.example/".
func (c *Config) readLogin(address string) registryLogin {
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
		if hasUnsetVariable(s.value) {
			l.problemText = "the variable in " + s.value + " is not set"
		}
		return s.value
	}
	token, basicAuth, user, password := getAttribute(tokenKey), getAttribute(authKey), getAttribute(userKey), getAttribute(passwordKey)
	decodedPassword, err := base64.StdEncoding.DecodeString(password)
	switch {
	case l.problemText != "":
	case token != "":
		l.header = "Bearer " + token
	case basicAuth != "":
		l.header = "Basic " + basicAuth
	case user != "" && password != "" && err == nil:
		l.header = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+string(decodedPassword)))
	case user != "" && password != "":
		l.problemText = "the password is not encoded in base64, as npm requires"
	default:
		l.problemText = "the user or the password is missing"
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
