package npm

import (
	"strings"
	"testing"
)

// The text after a "!" in a version is the author's deprecation warning.
func newTestPackage(tags map[string]string, versions ...string) *Package {
	p := &Package{Name: "p", Tags: tags, Versions: map[string]*Version{}}
	for _, versionText := range versions {
		version, warning, _ := strings.Cut(versionText, "!")
		v := &Version{Name: "p", Version: version}
		if warning != "" {
			v.Deprecated = warning
		}
		p.Versions[version] = v
	}
	return p
}

func TestChooseVersion(t *testing.T) {
	p := newTestPackage(map[string]string{"latest": "1.2.0", "next": "2.0.0-beta.1", "gone": "9.9.9"},
		"1.0.0", "1.2.0", "1.3.0", "1.4.0!do not use", "2.0.0-beta.1", "2.0.0-beta.2", "2.1.0-rc.1", "0.9.0", "3.0.0!old", "no-version")
	for want, version := range map[string]string{
		"":                "1.2.0",
		"latest":          "1.2.0",
		"next":            "2.0.0-beta.1",
		"1.3.0":           "1.3.0",
		"v1.3.0":          "1.3.0",
		"^1.0.0":          "1.2.0", // 1.2.0 has the tag latest
		"^1.3.0":          "1.3.0", // 1.4.0 is deprecated
		"~1.4":            "1.4.0", // the only matching version is deprecated
		"<1":              "0.9.0",
		">=2.0.0-beta.1":  "2.0.0-beta.2", // 3.0.0 is deprecated
		"^2.0.0-beta.1":   "2.0.0-beta.2", // the range does not name a prerelease of 2.1.0
		"3":               "3.0.0",
		"1.0.0 - 1.1.0":   "1.0.0",
		"0.9.0 || ^5.0.0": "0.9.0",
		"*":               "1.2.0",
	} {
		v, err := p.ChooseVersion(want)
		if err != nil || v.Version != version {
			t.Errorf("ChooseVersion(%q) = %+v, error %v; want version %s", want, v, err, version)
		}
	}
	for want, versionText := range map[string]string{
		"^7":   "no version of p matches ^7; choose one of 3.0.0, 2.1.0-rc.1, 2.0.0-beta.2, 2.0.0-beta.1, 1.4.0 and 5 older ones, or one of the tags latest, next",
		"oops": `has no version and no tag "oops", which is not a range such as ^1.2.0 either; choose one of`,
		"gone": "p gone is 9.9.9, which the registry does not have",
	} {
		if v, err := p.ChooseVersion(want); err == nil || !strings.Contains(err.Error(), versionText) {
			t.Errorf("ChooseVersion(%q) = %+v, error %v; want an error that contains %q", want, v, err, versionText)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, isValid := range map[string]bool{
		"opentabs-plugin-a": true, "@acme/opentabs-plugin-a": true,
		"": false, "..": false, "../x": false, "A": false, "@a/b/c": false, "a b": false, "a?x=1": false, "a%2f": false, ".hidden": false, "@../x": false,
		strings.Repeat("a", 215): false,
	} {
		if err := CheckName(name); (err == nil) != isValid {
			t.Errorf("CheckName(%q) = %v, want an error only for an invalid name", name, err)
		}
	}
}
