package npm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"opentabs/internal/lazyregexp"
)

const maxListedVersions = 5

// latestTag is the tag that [Package.ChooseVersion] uses if no version is requested.
const latestTag = "latest"

// Package is a registry's metadata of one npm package.
type Package struct {
	Name string
	// Registry is the URL of the registry from which the metadata was downloaded.
	Registry string
	// Tags maps each of the package's tags, such as "latest", to a version. Almost every
	// package has a "latest" tag.
	Tags     map[string]string
	Versions map[string]*Version
	// Published maps versions to their times of publication. If the registry does not
	// list the time of a version, Published does not contain the version.
	Published map[string]time.Time
}

// Version is one version of a package, as the registry describes it.
type Version struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Homepage    string `json:"homepage"`
	License     any    `json:"license"`
	// Deprecated is the author's warning about the version; false or absent if the
	// version is not deprecated.
	Deprecated   any               `json:"deprecated"`
	Keywords     any               `json:"keywords"`
	Dependencies map[string]string `json:"dependencies"`
	Dist         Dist              `json:"dist"`
	// OpenTabs is the "opentabs" member of package.json, which describes the plugin.
	OpenTabs json.RawMessage `json:"opentabs"`
}

// Dist contains the address and the integrity hash of a version's .tgz file.
type Dist struct {
	Tarball   string `json:"tarball"`
	Integrity string `json:"integrity"`
	Shasum    string `json:"shasum"`
	// UnpackedSize is the total size of the unpacked files in bytes; 0 if the registry
	// does not list the size.
	UnpackedSize int64 `json:"unpackedSize"`
	FileCount    int   `json:"fileCount"`
}

// npm itself also accepts names that do not match namePattern.
var namePattern = lazyregexp.New(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)

// CheckName returns an error if name is not a valid package name for a plugin.
func CheckName(name string) error {
	if !namePattern().MatchString(name) || len(name) > 214 {
		return fmt.Errorf("%q is not the name of an npm package; use lower-case letters, digits, - and ., as in opentabs-plugin-slack or @scope/opentabs-plugin-slack", name)
	}
	return nil
}

// Package downloads the metadata of a package from its registry. If the download fails,
// the error advises the user what to do. If the package does not exist, the error wraps
// [ErrNotFound].
func (c *Client) Package(ctx context.Context, name string) (*Package, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	registry, _, err := c.config.Registry(name)
	if err != nil {
		return nil, err
	}
	var packageMetadata struct {
		Name     string                     `json:"name"`
		Tags     map[string]string          `json:"dist-tags"`
		Versions map[string]*Version        `json:"versions"`
		Time     map[string]json.RawMessage `json:"time"`
	}
	err = c.getWithRetries(ctx, registry+strings.Replace(name, "/", "%2f", 1), "application/json", func(response *http.Response) error {
		return decodeJSON(response, maxPackageBytes, &packageMetadata)
	})
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("%s was %w on the registry %s (HTTP 404 Not Found); check the name, or find plugins with `opentabs plugin search WORD`", name, ErrNotFound, strings.TrimSuffix(registry, "/"))
	}
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", name, err)
	}
	if packageMetadata.Name != name {
		return nil, fmt.Errorf("look up %s: the registry %s returns the package %q; check the registry in .npmrc", name, registry, packageMetadata.Name)
	}
	p := &Package{Name: name, Registry: registry, Tags: packageMetadata.Tags, Versions: map[string]*Version{}, Published: map[string]time.Time{}}
	for versionText, v := range packageMetadata.Versions {
		if v != nil && v.Name == name && v.Version == versionText {
			p.Versions[versionText] = v
		}
		var publishTime time.Time
		if json.Unmarshal(packageMetadata.Time[versionText], &publishTime) == nil {
			p.Published[versionText] = publishTime
		}
	}
	if len(p.Versions) == 0 {
		return nil, fmt.Errorf("%s has no version on the registry %s; ask its author to publish one", name, registry)
	}
	return p, nil
}

// ChooseVersion returns the version for a tag, a version, or a range such as ^1.2.0. An
// empty text means the tag "latest". If want is a range, ChooseVersion prefers the
// version with the tag "latest", then the newest version, as npm does. A deprecated
// version is chosen only if no other version matches. If no version matches, the error
// lists the available versions.
func (p *Package) ChooseVersion(want string) (*Version, error) {
	want = strings.TrimSpace(want)
	if want == "" {
		want = latestTag
	}
	if taggedVersion, ok := p.Tags[want]; ok {
		if v := p.Versions[taggedVersion]; v != nil {
			return v, nil
		}
		return nil, fmt.Errorf("%s %s is %s, which the registry does not have; %s", p.Name, want, taggedVersion, p.listVersions())
	}
	if v := p.Versions[strings.TrimPrefix(want, "v")]; v != nil {
		return v, nil
	}
	constraint, err := semver.NewConstraint(want)
	if err != nil {
		return nil, fmt.Errorf("%s has no version and no tag %q, which is not a range such as ^1.2.0 either; %s", p.Name, want, p.listVersions())
	}
	var bestVersion *Version
	for _, versionText := range p.newestFirst() {
		v := p.Versions[versionText]
		parsedVersion, err := semver.NewVersion(versionText)
		if err != nil || !constraint.Check(parsedVersion) || !allowsPrerelease(want, parsedVersion) {
			continue
		}
		if versionText == p.Tags[latestTag] && !v.isDeprecated() {
			return v, nil
		}
		if bestVersion == nil || bestVersion.isDeprecated() && !v.isDeprecated() {
			bestVersion = v
		}
	}
	if bestVersion == nil {
		return nil, fmt.Errorf("no version of %s matches %s; %s", p.Name, want, p.listVersions())
	}
	return bestVersion, nil
}

// As in npm, a range allows a prerelease only if the range names a prerelease of the same version.
func allowsPrerelease(want string, v *semver.Version) bool {
	return v.Prerelease() == "" || strings.Contains(want, fmt.Sprintf("%d.%d.%d-", v.Major(), v.Minor(), v.Patch()))
}

func (p *Package) newestFirst() []string {
	shownTexts := make([]string, 0, len(p.Versions))
	for versionText := range p.Versions {
		shownTexts = append(shownTexts, versionText)
	}
	slices.SortFunc(shownTexts, func(a, b string) int { return Compare(b, a) })
	return shownTexts
}

// Compare returns -1 if version a is older than b, 1 if a is newer, and 0 if both are
// equal. Compare treats a text that is not a valid version as older than any valid
// version.
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

func (p *Package) listVersions() string {
	shownTexts := p.newestFirst()
	olderVersionsText := ""
	if len(shownTexts) > maxListedVersions {
		olderVersionsText = fmt.Sprintf(" and %d older ones", len(shownTexts)-maxListedVersions)
		shownTexts = shownTexts[:maxListedVersions]
	}
	action := "choose one of " + strings.Join(shownTexts, ", ") + olderVersionsText
	var tags []string
	for tag, version := range p.Tags {
		if p.Versions[version] != nil {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	if len(tags) > 0 {
		action += ", or one of the tags " + strings.Join(tags, ", ")
	}
	return action
}

func (v *Version) isDeprecated() bool { return v.Warning() != "" }

// Warning returns the author's text about a deprecated version; "" if the version is not
// deprecated.
func (v *Version) Warning() string {
	switch value := v.Deprecated.(type) {
	case string:
		return value
	case bool:
		if value {
			return "deprecated"
		}
	}
	return ""
}
