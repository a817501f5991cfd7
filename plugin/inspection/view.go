package inspection

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/plaintext"
	"opentabs/plugin"
	"opentabs/plugin/review"
	"opentabs/wire"
)

const (
	// maxAuthorChars is the maximum length of an author's name in the side panel, in
	// characters.
	maxAuthorChars = 100
	// maxFieldChars is the maximum length of a description or warning in the side panel,
	// in characters.
	maxFieldChars = 1000
)

// BrowserFeatureNames returns the names of the browser features that a plugin's own code and
// pre-script use, sorted by name.
func BrowserFeatureNames(loadedPlugin *plugin.Plugin) ([]string, error) {
	code, err := review.ReadCode(loadedPlugin)
	if err != nil {
		return nil, err
	}
	return browserFeatureNames(sortBrowserFeatures(findBrowserFeatures(code.OwnCode()), findBrowserFeatures(code.PreScript))), nil
}

// View returns the inspection in the form that the side panel shows, without the texts of
// the sections.
func (inspection *Inspection) View() wire.PluginInspectResult {
	p := inspection.Plugin
	view := wire.PluginInspectResult{
		Hash: inspection.Hash, Description: plaintext.Clean(p.Description, maxFieldChars), Package: p.Package, Source: wire.PluginSource(p.Source), Folder: p.Dir,
		Author: formatAuthor(p), Excludes: slices.Clone(p.Excludes), PreScript: p.PreScript, RunsInFrames: p.RunsInFrames, Powers: inspection.browserFeatures(),
	}
	for _, warning := range p.Warnings {
		view.Warnings = append(view.Warnings, plaintext.Line(warning, maxFieldChars))
	}
	for _, t := range p.Tools {
		view.Tools = append(view.Tools, wire.InspectedToolView{
			Name: t.Name, Description: plaintext.Clean(t.Description, maxFieldChars), Destructive: t.Annotations.Destructive != nil && *t.Annotations.Destructive,
		})
	}
	for _, name := range []wire.SectionName{wire.SectionChanges, wire.SectionCode, wire.SectionPreScript, wire.SectionLibraries} {
		if s, ok := inspection.findSection(string(name)); ok {
			view.Sections = append(view.Sections, newSectionView(name, s))
		}
	}
	if r := inspection.state.Review; r != nil {
		view.LastReview = &wire.LastReviewView{Version: plaintext.Line(r.Version, maxFieldChars), Permission: inspection.state.Permission}
		if !r.At.IsZero() {
			view.LastReview.AtMs = float64(r.At.UnixMilli())
		}
	}
	return view
}

func newSectionView(name wire.SectionName, s inspectedSection) wire.SectionView {
	view := wire.SectionView{Name: name, Pages: len(s.reviewPages)}
	for _, page := range s.reviewPages {
		view.Lines += strings.Count(page, "\n")
		if name != wire.SectionChanges {
			continue
		}
		for line := range strings.Lines(page) {
			switch {
			case strings.HasPrefix(line, "+++ now/"), strings.HasPrefix(line, "--- reviewed/"):
			case strings.HasPrefix(line, "+"):
				view.Added++
			case strings.HasPrefix(line, "-"):
				view.Removed++
			}
		}
	}
	return view
}

func (inspection *Inspection) browserFeatures() []wire.PowerView {
	var powerViews []wire.PowerView
	for _, section := range []struct {
		name wire.SectionName
		code string
	}{
		{wire.SectionCode, inspection.code.OwnCode()},
		{wire.SectionPreScript, inspection.code.PreScript},
		{wire.SectionLibraries, inspection.code.LibraryCode()},
	} {
		for _, m := range findBrowserFeatures(section.code) {
			i := slices.IndexFunc(powerViews, func(powerView wire.PowerView) bool { return powerView.Name == m.Name })
			if i < 0 {
				i = len(powerViews)
				powerViews = append(powerViews, wire.PowerView{Name: m.Name, Meaning: m.Meaning})
			}
			powerViews[i].Sections = append(powerViews[i].Sections, section.name)
		}
	}
	slices.SortFunc(powerViews, func(a, b wire.PowerView) int { return strings.Compare(a.Name, b.Name) })
	return powerViews
}

// The author's name is not verified. The author in package.json is a string or an object.
func formatAuthor(p *plugin.Plugin) string {
	packageJSON, _, err := p.ReadManifests()
	if err != nil {
		return ""
	}
	var manifest struct {
		Author json.RawMessage `json:"author"`
	}
	var object struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(packageJSON, &manifest) != nil {
		return ""
	}
	if json.Unmarshal(manifest.Author, &object.Name) != nil && json.Unmarshal(manifest.Author, &object) != nil {
		return ""
	}
	return plaintext.Line(object.Name, maxAuthorChars)
}

// PanelPage returns one page of a section for the side panel. PanelPage returns error
// texts that are written for the user.
func (inspection *Inspection) PanelPage(in wire.PluginPageParams) (wire.PluginPageResult, error) {
	if in.Hash != inspection.Hash {
		return wire.PluginPageResult{}, fmt.Errorf("the plugin %s has changed since you opened its review: open the review again", inspection.Plugin.Name)
	}
	s, ok := inspection.findSection(string(in.Section))
	if !ok || in.Page < 1 || in.Page > len(s.reviewPages) {
		return wire.PluginPageResult{}, fmt.Errorf("the plugin %s has no page %d of the section %q", inspection.Plugin.Name, in.Page, plaintext.Shorten(string(in.Section)))
	}
	result := wire.PluginPageResult{Text: s.reviewPages[in.Page-1], FirstLine: 1}
	for _, page := range s.reviewPages[:in.Page-1] {
		result.FirstLine += strings.Count(page, "\n")
	}
	return result, nil
}
