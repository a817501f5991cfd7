package inspection

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"opentabs/internal/humanize"
	"opentabs/internal/plaintext"
	"opentabs/plugin"
	"opentabs/plugin/policy"
	"opentabs/plugin/review"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

// maxPageBytes is the maximum size of one page of an [Inspection], in bytes. Agents can
// read a page of at most maxPageBytes in one response.
const maxPageBytes = 48 << 10

const (
	SectionOverview  = "overview"
	sectionTools     = "tools"
	SectionCode      = string(wire.SectionCode)
	sectionPreScript = string(wire.SectionPreScript)
	sectionChanges   = string(wire.SectionChanges)
	sectionLibraries = string(wire.SectionLibraries)
)

// Inspection is what a reviewer reads about a plugin: sections of text, each divided into
// pages. An Inspection is immutable.
type Inspection struct {
	// Plugin is the inspected plugin. The field Hash is the hash of the plugin's content.
	Plugin *plugin.Plugin
	Hash   string

	sections []inspectedSection
	code     review.Code
	state    policy.State
}

// inspectedSection is one section of an [Inspection], such as "code". An inspection omits
// sections without text.
type inspectedSection struct {
	name        string
	reviewPages []string
}

// Inspect reads the code, the tools, the settings and the changes of the plugin with the
// given name.
func Inspect(p *policy.Policy, pluginSet *plugin.Set, settingValues *settings.Values, name string) (*Inspection, error) {
	inspectedPlugin, err := pluginSet.Find(name)
	if err != nil {
		return nil, err
	}
	code, err := review.ReadCode(inspectedPlugin)
	if err != nil {
		return nil, err
	}
	changes, hasReviewed, err := p.Changes(inspectedPlugin)
	if err != nil {
		return nil, err
	}
	inspection := &Inspection{Plugin: inspectedPlugin, Hash: inspectedPlugin.ContentHash(), code: code, state: p.State(name)}
	inspection.addSection(sectionTools, formatTools(inspectedPlugin))
	inspection.addSection(SectionCode, code.OwnCode())
	inspection.addSection(sectionPreScript, code.PreScript)
	inspection.addSection(sectionChanges, changes)
	inspection.addSection(sectionLibraries, code.LibraryCode())
	overview := inspection.overviewText(inspection.state, code, settingValues, hasReviewed, changes == "")
	inspection.sections = slices.Insert(inspection.sections, 0, inspectedSection{SectionOverview, splitPages(escapeHiddenText(overview))})
	return inspection, nil
}

func (inspection *Inspection) addSection(name, sectionText string) {
	if strings.TrimSpace(sectionText) != "" {
		inspection.sections = append(inspection.sections, inspectedSection{name, splitPages(escapeHiddenText(sectionText))})
	}
}

// escapeHiddenText replaces hidden characters with visible escapes, because hidden text could
// contain instructions that only an agent reads.
func escapeHiddenText(untrustedText string) string {
	return plaintext.Replace(untrustedText, func(r rune) string {
		if r == '\r' {
			return "" // the \r is part of a Windows line end
		}
		return fmt.Sprintf(`\u{%x}`, r)
	})
}

// Page returns one page of a section, and the name of the next page. The argument section can contain a page number, as
// in "code/2". If section is empty, Page returns the overview. nextPage is empty after the last page. The error for an
// unknown section lists the valid sections.
func (inspection *Inspection) Page(sectionName string) (pageText, nextPage string, err error) {
	name, number, hasNumber := strings.Cut(strings.TrimSpace(sectionName), "/")
	if name == "" {
		name = SectionOverview
	}
	page := 1
	if hasNumber {
		if page, err = strconv.Atoi(number); err != nil {
			page = 0
		}
	}
	if s, ok := inspection.findSection(name); ok && page >= 1 && page <= len(s.reviewPages) {
		if page < len(s.reviewPages) {
			nextPage = fmt.Sprintf("%s/%d", name, page+1)
		}
		return s.reviewPages[page-1], nextPage, nil
	}
	return "", "", fmt.Errorf("the plugin %s has no section %q: name one of %s", inspection.Plugin.Name, plaintext.Shorten(sectionName), strings.Join(inspection.sectionNames(), ", "))
}

func (inspection *Inspection) findSection(name string) (s inspectedSection, ok bool) {
	i := slices.IndexFunc(inspection.sections, func(s inspectedSection) bool { return s.name == name })
	if i < 0 {
		return inspectedSection{}, false
	}
	return inspection.sections[i], true
}

var reviewSections = []struct{ name, title string }{
	{sectionChanges, "Changes since the last review"},
	{sectionPreScript, "The pre-script"},
	{SectionCode, "The author's code"},
}

// ReviewText returns the sections that a review shows after the overview: the changes
// and, if includesCode is true, the author's code. ReviewText returns an empty string if a
// review shows no section after the overview.
func (inspection *Inspection) ReviewText(includesCode bool) string {
	sectionText := ""
	for _, section := range reviewSections {
		for _, s := range inspection.sections {
			if s.name == section.name && (includesCode || s.name == sectionChanges) {
				sectionText += fmt.Sprintf("\n%s:\n\n%s\n", section.title, strings.TrimRight(strings.Join(s.reviewPages, ""), "\n"))
			}
		}
	}
	return sectionText
}

func (inspection *Inspection) sectionNames() []string {
	var names []string
	for _, s := range inspection.sections {
		sectionTitle := s.name
		if len(s.reviewPages) > 1 {
			sectionTitle += fmt.Sprintf(" (%d pages, %s/1 to %[2]s/%[1]d)", len(s.reviewPages), s.name)
		}
		names = append(names, sectionTitle)
	}
	return names
}

func splitPages(sectionText string) []string {
	var reviewPages []string
	for len(sectionText) > maxPageBytes {
		lineEnd := strings.LastIndexByte(sectionText[:maxPageBytes], '\n') + 1
		if lineEnd == 0 {
			for lineEnd = maxPageBytes; !utf8.RuneStart(sectionText[lineEnd]); lineEnd-- {
			}
		}
		reviewPages, sectionText = append(reviewPages, sectionText[:lineEnd]), sectionText[lineEnd:]
	}
	return append(reviewPages, sectionText)
}

func formatTools(inspectedPlugin *plugin.Plugin) string {
	var b strings.Builder
	for _, t := range inspectedPlugin.ToolsByCategory() {
		if t.Group != "" {
			fmt.Fprintf(&b, "[%s] ", t.Group)
		}
		fmt.Fprintf(&b, "%s: %s\n  input %s\n", t.FullName(), t.Description, t.InputSchema)
	}
	for _, prompt := range inspectedPlugin.Prompts {
		fmt.Fprintf(&b, "%s (prompt): %s\n", prompt.FullName(), prompt.Description)
	}
	return b.String()
}

func (inspection *Inspection) overviewText(s policy.State, code review.Code, settingValues *settings.Values, hasReviewed, isUnchanged bool) string {
	inspectedPlugin := inspection.Plugin
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-13s %s\n", label, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
	}
	line("plugin", "%s %s (%s)", inspectedPlugin.Name, inspectedPlugin.Version, inspectedPlugin.DisplayName)
	line("description", "%s", inspectedPlugin.Description)
	line("sites", "%s", strings.Join(inspectedPlugin.Matches, " "))
	if len(inspectedPlugin.Excludes) > 0 {
		line("but not", "%s", strings.Join(inspectedPlugin.Excludes, " "))
	}
	if inspectedPlugin.OpenURL != "" {
		line("page to open", "%s", inspectedPlugin.OpenURL)
	}
	line("content hash", "%s", inspection.Hash)
	line("reviewed", "%s", formatReview(s, hasReviewed, isUnchanged))
	line("permission", "%s", s.EffectivePermission)
	line("runs", "%s", describeRunLocations(inspectedPlugin))
	line("world", "%s", plugin.DescribeWorld(inspectedPlugin.World))
	if inspectedPlugin.StartsAfterPageScripts() {
		line("late", "%s", plugin.LateStartDescription)
		line("late access", "%s", formatOnOff(s.HasLateStartAccess()))
	}
	line("may call", "%s", formatAllowedCalls(s))
	ownCode, libraries := code.OwnCode(), code.LibraryCode()
	line("code", "%d bytes of its author, %d bytes marked as library code by the bundler (not verified)", len(ownCode), len(libraries))
	featuresOfOwnCode, featuresOfPreScript, featuresOfLibraries := findBrowserFeatures(ownCode), findBrowserFeatures(code.PreScript), findBrowserFeatures(libraries)
	line("mentions", "its own code: %s; its pre-script: %s; its libraries: %s",
		joinTextsOrNone(browserFeatureNames(featuresOfOwnCode)), joinTextsOrNone(browserFeatureNames(featuresOfPreScript)), joinTextsOrNone(browserFeatureNames(featuresOfLibraries)))
	for _, m := range sortBrowserFeatures(featuresOfOwnCode, featuresOfPreScript) {
		fmt.Fprintf(&b, "  %s: %s\n", m.Name, m.Meaning)
	}
	line("settings", "%s", formatSettings(inspectedPlugin, settingValues))
	for _, warning := range inspectedPlugin.Warnings {
		line("warning", "%s", warning)
	}
	fmt.Fprintf(&b, "sections      %s\n\n%d tools:\n", strings.Join(inspection.sectionNames(), ", "), len(inspectedPlugin.Tools))
	inspectedPlugin.EachCategory(func(category string, tools []*plugin.Tool) {
		if category != "" {
			fmt.Fprintf(&b, "%s:\n", category)
		}
		for _, t := range tools {
			fmt.Fprintf(&b, "  %s: %s\n", t.FullName(), strings.ReplaceAll(t.Description, "\n", " "))
		}
	})
	return b.String()
}

func describeRunLocations(inspectedPlugin *plugin.Plugin) string {
	description := "in the documents of its sites"
	if inspectedPlugin.RunsInFrames {
		description += ", also in frames of the page's origin"
	}
	if inspectedPlugin.PreScript {
		description += "; it has a pre-script, which runs before all scripts of the page and in all its frames"
	}
	return description
}

func formatOnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func formatAllowedCalls(s policy.State) string {
	if s.Reviewed && len(s.Calls) > 0 {
		return "the tools of " + strings.Join(s.CallablePlugins(), ", ")
	}
	return "no other plugin, unless the user allows it"
}

func formatReview(s policy.State, hasReviewed, isUnchanged bool) string {
	switch {
	case s.Review == nil:
		return "never"
	case s.Reviewed:
		return "yes, what is there now" + humanize.FormatDay(s.Review.At)
	case !hasReviewed:
		return fmt.Sprintf("version %s%s; it has CHANGED SINCE, and what was reviewed was not kept", s.Review.Version, humanize.FormatDay(s.Review.At))
	case isUnchanged:
		return fmt.Sprintf("version %s%s; it has CHANGED SINCE, in what bundlers add only", s.Review.Version, humanize.FormatDay(s.Review.At))
	}
	return fmt.Sprintf("version %s%s; it has CHANGED SINCE, see the section %s", s.Review.Version, humanize.FormatDay(s.Review.At), sectionChanges)
}

func formatSettings(inspectedPlugin *plugin.Plugin, settingValues *settings.Values) string {
	configuredValues := settingValues.ValidValues(inspectedPlugin)
	var shownTexts []string
	for _, s := range inspectedPlugin.Settings {
		description := fmt.Sprintf("%s (%s", s.Key, s.Type)
		if s.Required {
			description += ", required"
		}
		if s.IsSecret() {
			description += ", secret"
		}
		if configuredValues[s.Key] != nil {
			description += ", set"
		}
		shownTexts = append(shownTexts, description+")")
	}
	return joinTextsOrNone(shownTexts)
}

func joinTextsOrNone(shownTexts []string) string {
	if len(shownTexts) == 0 {
		return "none"
	}
	return strings.Join(shownTexts, ", ")
}
