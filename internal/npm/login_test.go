package npm

import (
	"net/url"
	"strings"
	"testing"
)

func TestLoginForRegistry(t *testing.T) {
	config, _ := loadSettings(t, map[string]string{".npmrc": strings.Join([]string{
		"//r.com/:_authToken=whole",
		"//r.com/team/a/:_authToken=deep",
		"//r.com/team/:_authToken=${TEAM_TOKEN}",
		"//basic.com:8443/:_auth=dXNlcjpwdw==",
		"//user.com/:username=me",
		"//user.com/:_password=c2VjcmV0",
		"//half.com/:username=me",
		"//unset.com/:_authToken=${UNSET}",
		"_authToken=everywhere",
	}, "\n")}, "TEAM_TOKEN=team", "npm_config_//env.com/:_authToken=fromEnv")
	for address, want := range map[string]string{
		"https://r.com/x":                 "Bearer whole",
		"https://R.com:443/x":             "Bearer whole",
		"https://r.com:8443/x":            "",
		"https://r.com/team/x":            "Bearer team",
		"https://r.com/team":              "Bearer team",
		"https://r.com/teammates/x":       "Bearer whole",
		"https://r.com/team/a/b":          "Bearer deep",
		"https://r.com/team/a/../../x":    "",
		"https://evil-r.com/x":            "",
		"https://r.com.evil.com/x":        "",
		"https://sub.r.com/x":             "",
		"https://r.com@evil.com/x":        "",
		"https://basic.com:8443/-/x.tgz":  "Basic dXNlcjpwdw==",
		"https://basic.com/x":             "",
		"https://user.com/":               "Basic bWU6c2VjcmV0",
		"https://half.com/":               "",
		"https://unset.com/":              "",
		"https://env.com/opentabs-plugin": "Bearer fromEnv",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		l, _ := config.loginFor(u)
		if l.header != want {
			t.Errorf("login for %s = %q, want %q", address, l.header, want)
		}
	}
}
