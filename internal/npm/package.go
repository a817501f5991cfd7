package npm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
)

// listedVersions is how many versions an error names.
const listedVersions = 5

// latest is the tag that counts if no version is named.
const latest = "latest"

// Package is what a registry tells of a package.
type Package struct {
	Name string
	// Registry is the address it came from.
	Registry string
	// Tags are versions by name; "latest" is there nearly always.
	Tags     map[string]string
	Versions map[string]*Version
	// Published is when each version was, if the registry tells.
	Published map[string]time.Time
}

// Version is one version of a package.
type Version struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Homepage    string `json:"homepage"`
	License     any    `json:"license"`
	// Deprecated is its author's warning; false or absent if there is none.
	Deprecated   any               `json:"deprecated"`
	Keywords     any               `json:"keywords"`
	Dependencies map[string]string `json:"dependencies"`
	Dist         Dist              `json:"dist"`
	// OpenTabs is what the package says of the plugin.
	OpenTabs json.RawMessage `json:"opentabs"`
}

// Dist is where the file of a version is, and what it has to be.
type Dist struct {
	Tarball   string `json:"tarball"`
	Integrity string `json:"integrity"`
	Shasum    string `json:"shasum"`
	// UnpackedSize is in bytes, 0 if the registry does not tell.
	UnpackedSize int64 `json:"unpackedSize"`
	FileCount    int   `json:"fileCount"`
}

// nameGrammar is what a package may be called; npm itself allows more, of which
// nothing is a plugin.
var nameGrammar = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)

// CheckName says what is wrong with the name of a package.
func CheckName(name string) error {
	if !nameGrammar.MatchString(name) || len(name) > 214 {
		return fmt.Errorf("%q is not the name of an npm package; use lower-case letters, digits, - and ., as in opentabs-plugin-slack or @scope/opentabs-plugin-slack", name)
	}
	return nil
}

// Package asks the registry for a package. The error wraps [ErrNotFound] if there
// is none of this name; each says what to do.
func (c *Client) Package(ctx context.Context, name string) (*Package, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	registry, _, err := c.config.Registry(name)
	if err != nil {
		return nil, err
	}
	var told struct {
		Name     string                     `json:"name"`
		Tags     map[string]string          `json:"dist-tags"`
		Versions map[string]*Version        `json:"versions"`
		Time     map[string]json.RawMessage `json:"time"`
	}
	err = c.get(ctx, registry+strings.Replace(name, "/", "%2f", 1), "application/json", func(answer *http.Response) error {
		return decode(answer, maxPackageBytes, &told)
	})
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("%s %w to the registry %s; check the name, or find plugins with `opentabs plugin search WORD`", name, ErrNotFound, strings.TrimSuffix(registry, "/"))
	}
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", name, err)
	}
	if told.Name != name {
		return nil, fmt.Errorf("ask for %s: the registry %s answers with the package %q; see that the registry in .npmrc is the right one", name, registry, told.Name)
	}
	p := &Package{Name: name, Registry: registry, Tags: told.Tags, Versions: map[string]*Version{}, Published: map[string]time.Time{}}
	for text, v := range told.Versions {
		if v != nil && v.Name == name && v.Version == text {
			p.Versions[text] = v
		}
		var at time.Time
		if json.Unmarshal(told.Time[text], &at) == nil {
			p.Published[text] = at
		}
	}
	if len(p.Versions) == 0 {
		return nil, fmt.Errorf("%s has no version on the registry %s; ask its author to publish one", name, registry)
	}
	return p, nil
}

// Pick returns the version that is wanted: a tag, a version, or a range such as
// ^1.2.0. Nothing stands for the tag "latest". As npm does it takes the latest
// version if the range allows it, otherwise the newest one that it allows; a
// version that its author warns of only if there is no other. The error lists
// what there is.
func (p *Package) Pick(want string) (*Version, error) {
	want = strings.TrimSpace(want)
	if want == "" {
		want = latest
	}
	if tagged, ok := p.Tags[want]; ok {
		if v := p.Versions[tagged]; v != nil {
			return v, nil
		}
		return nil, fmt.Errorf("%s %s is %s, which the registry does not have; %s", p.Name, want, tagged, p.choices())
	}
	if v := p.Versions[strings.TrimPrefix(want, "v")]; v != nil {
		return v, nil
	}
	constraint, err := semver.NewConstraint(want)
	if err != nil {
		return nil, fmt.Errorf("%s has no version and no tag %q, and it is no range such as ^1.2.0; %s", p.Name, want, p.choices())
	}
	var best *Version
	for _, text := range p.newestFirst() {
		v := p.Versions[text]
		number, err := semver.NewVersion(text)
		if err != nil || !constraint.Check(number) || !previewWanted(want, number) {
			continue
		}
		if text == p.Tags[latest] && !v.warned() {
			return v, nil
		}
		if best == nil || best.warned() && !v.warned() {
			best = v
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no version of %s fits %s; %s", p.Name, want, p.choices())
	}
	return best, nil
}

// previewWanted reports whether a range allows a preview as npm means it: only if
// it names a preview of the same version.
func previewWanted(want string, v *semver.Version) bool {
	return v.Prerelease() == "" || strings.Contains(want, fmt.Sprintf("%d.%d.%d-", v.Major(), v.Minor(), v.Patch()))
}

// newestFirst returns the versions; what is no version comes last.
func (p *Package) newestFirst() []string {
	texts := make([]string, 0, len(p.Versions))
	for text := range p.Versions {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return Compare(b, a) })
	return texts
}

// Compare says which of two versions is the newer one: -1 if a is older, 1 if it
// is newer. What is no version is older than what is.
func Compare(a, b string) int {
	x, errX := semver.NewVersion(a)
	y, errY := semver.NewVersion(b)
	switch {
	case errX != nil && errY != nil:
		return strings.Compare(a, b)
	case errX != nil:
		return -1
	case errY != nil:
		return 1
	}
	return x.Compare(y)
}

// choices lists versions and tags.
func (p *Package) choices() string {
	texts := p.newestFirst()
	more := ""
	if len(texts) > listedVersions {
		more = fmt.Sprintf(" and %d older ones", len(texts)-listedVersions)
		texts = texts[:listedVersions]
	}
	said := "name one of " + strings.Join(texts, ", ") + more
	var tags []string
	for tag, version := range p.Tags {
		if p.Versions[version] != nil {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	if len(tags) > 0 {
		said += ", or of the tags " + strings.Join(tags, ", ")
	}
	return said
}

// warned reports whether the author warns of this version.
func (v *Version) warned() bool { return v.Warning() != "" }

// Warning is what the author says of a version that should not be used any more.
func (v *Version) Warning() string {
	switch said := v.Deprecated.(type) {
	case string:
		return said
	case bool:
		if said {
			return "deprecated"
		}
	}
	return ""
}
