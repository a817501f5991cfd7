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
)

// maxPageBytes is the longest page of an [Inspection]. Agents can read a page of this
// size in one response.
const maxPageBytes = 48 << 10

// The sections of an [Inspection].
const (
	SectionOverview  = "overview"
	sectionTools     = "tools"
	SectionCode      = "code"
	sectionPreScript = "pre-script"
	sectionChanges   = "changes"
	sectionLibraries = "libraries"
)

// Inspection is what a reviewer reads about a plugin: sections of text, each divided
// into pages. Inspection is immutable.
type Inspection struct {
	// Plugin is the inspected plugin; Hash is the hash of its content.
	Plugin *plugin.Plugin
	Hash   string

	sections []inspected
}

// inspected is one section that is not empty.
type inspected struct {
	name  string
	pages []string
}

// Inspect reads the code, the tools, the settings and the changes of a plugin.
func Inspect(p *policy.Policy, set *plugin.Set, values *settings.Values, name string) (*Inspection, error) {
	one, err := set.Find(name)
	if err != nil {
		return nil, err
	}
	code, err := review.ReadCode(one)
	if err != nil {
		return nil, err
	}
	changes, known, err := p.Changes(one)
	if err != nil {
		return nil, err
	}
	in := &Inspection{Plugin: one, Hash: one.ContentHash()}
	in.add(sectionTools, toolsText(one))
	in.add(SectionCode, code.Own())
	in.add(sectionPreScript, code.PreScript)
	in.add(sectionChanges, changes)
	in.add(sectionLibraries, code.Libraries())
	overview := in.overviewText(p.State(name), code, values, known, changes == "")
	in.sections = slices.Insert(in.sections, 0, inspected{SectionOverview, pagesOf(shownText(overview))})
	return in, nil
}

func (in *Inspection) add(name, text string) {
	if strings.TrimSpace(text) != "" {
		in.sections = append(in.sections, inspected{name, pagesOf(shownText(text))})
	}
}

// shownText returns a text with visible escapes for hidden characters, because hidden
// text could carry instructions that only an agent reads.
func shownText(text string) string {
	return plaintext.Replace(text, func(r rune) string {
		if r == '\r' {
			return "" // part of a Windows line end
		}
		return fmt.Sprintf(`\u{%x}`, r)
	})
}

// Page returns a page. section is the name of a section, or a name with a page number
// such as "code/2"; empty means the overview. next is the section of the next page;
// empty after the last page. The error lists the sections.
func (in *Inspection) Page(section string) (text, next string, err error) {
	name, number, numbered := strings.Cut(strings.TrimSpace(section), "/")
	if name == "" {
		name = SectionOverview
	}
	page := 1
	if numbered {
		if page, err = strconv.Atoi(number); err != nil {
			page = 0
		}
	}
	for _, s := range in.sections {
		if s.name != name || page < 1 || page > len(s.pages) {
			continue
		}
		if page < len(s.pages) {
			next = fmt.Sprintf("%s/%d", name, page+1)
		}
		return s.pages[page-1], next, nil
	}
	return "", "", fmt.Errorf("the plugin %s has no section %q: name one of %s", in.Plugin.Name, plaintext.Shorten(section), strings.Join(in.sectionNames(), ", "))
}

// reviewSections are the sections that a review shows after the overview, with their
// titles.
var reviewSections = []struct{ name, title string }{
	{sectionChanges, "Changes since the last review"},
	{sectionPreScript, "The pre-script"},
	{SectionCode, "The author's code"},
}

// ReviewText returns what a review shows after the overview: what has changed and,
// withCode, the author's code. The text is empty if there is nothing to show.
func (in *Inspection) ReviewText(withCode bool) string {
	text := ""
	for _, shown := range reviewSections {
		for _, s := range in.sections {
			if s.name == shown.name && (withCode || s.name == sectionChanges) {
				text += fmt.Sprintf("\n%s:\n\n%s\n", shown.title, strings.TrimRight(strings.Join(s.pages, ""), "\n"))
			}
		}
	}
	return text
}

// sectionNames returns the sections with their pages: "code (3 pages)".
func (in *Inspection) sectionNames() []string {
	var names []string
	for _, s := range in.sections {
		text := s.name
		if len(s.pages) > 1 {
			text += fmt.Sprintf(" (%d pages, %s/1 to %[2]s/%[1]d)", len(s.pages), s.name)
		}
		names = append(names, text)
	}
	return names
}

// pagesOf splits a text into pages, at line ends where possible.
func pagesOf(text string) []string {
	var pages []string
	for len(text) > maxPageBytes {
		cut := strings.LastIndexByte(text[:maxPageBytes], '\n') + 1
		if cut == 0 {
			for cut = maxPageBytes; !utf8.RuneStart(text[cut]); cut-- {
			}
		}
		pages, text = append(pages, text[:cut]), text[cut:]
	}
	return append(pages, text)
}

// toolsText returns the section of tools and prompts.
func toolsText(one *plugin.Plugin) string {
	var b strings.Builder
	for _, t := range one.ToolsByCategory() {
		if t.Group != "" {
			fmt.Fprintf(&b, "[%s] ", t.Group)
		}
		fmt.Fprintf(&b, "%s: %s\n  input %s\n", t.FullName(), t.Description, t.InputSchema)
	}
	for _, prompt := range one.Prompts {
		fmt.Fprintf(&b, "%s (prompt): %s\n", prompt.FullName(), prompt.Description)
	}
	return b.String()
}

// overviewText returns the first section: what the plugin is, its sites, its permissions
// and the other sections.
func (in *Inspection) overviewText(s policy.State, code review.Code, values *settings.Values, known, same bool) string {
	one := in.Plugin
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-13s %s\n", label, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
	}
	line("plugin", "%s %s (%s)", one.Name, one.Version, one.DisplayName)
	line("description", "%s", one.Description)
	line("sites", "%s", strings.Join(one.Matches, " "))
	if len(one.Excludes) > 0 {
		line("but not", "%s", strings.Join(one.Excludes, " "))
	}
	if one.OpensAt != "" {
		line("page to open", "%s", one.OpensAt)
	}
	line("content hash", "%s", in.Hash)
	line("reviewed", "%s", reviewedText(s, known, same))
	line("permission", "%s", s.Effective)
	line("runs", "%s", whereItRuns(one))
	line("world", "%s", plugin.WorldMeaning(one.World))
	if one.StartsLate() {
		line("late", "%s", plugin.LateMeaning)
		line("late access", "%s", onOff(s.HasLateAccess()))
	}
	line("may call", "%s", callsText(s))
	own, libraries := code.Own(), code.Libraries()
	line("code", "%d bytes of its author, %d bytes marked as library code by the bundler (not verified)", len(own), len(libraries))
	ownMentions, preMentions, libraryMentions := findMentions(own), findMentions(code.PreScript), findMentions(libraries)
	line("mentions", "its own code: %s; its pre-script: %s; its libraries: %s",
		orNone(mentionNames(ownMentions)), orNone(mentionNames(preMentions)), orNone(mentionNames(libraryMentions)))
	for _, m := range sortedMentions(ownMentions, preMentions) {
		fmt.Fprintf(&b, "  %s: %s\n", m.Name, m.Meaning)
	}
	line("settings", "%s", settingsText(one, values))
	for _, warning := range one.Warnings {
		line("warning", "%s", warning)
	}
	fmt.Fprintf(&b, "sections      %s\n\n%d tools:\n", strings.Join(in.sectionNames(), ", "), len(one.Tools))
	one.EachCategory(func(category string, tools []*plugin.Tool) {
		if category != "" {
			fmt.Fprintf(&b, "%s:\n", category)
		}
		for _, t := range tools {
			fmt.Fprintf(&b, "  %s: %s\n", t.FullName(), strings.ReplaceAll(t.Description, "\n", " "))
		}
	})
	return b.String()
}

// whereItRuns returns the documents and frames that receive the code.
func whereItRuns(one *plugin.Plugin) string {
	text := "in the documents of its sites"
	if one.Frames {
		text += ", also in frames of the page's origin"
	}
	if one.PreScript {
		text += "; it has a pre-script, which runs before all scripts of the page and in all its frames"
	}
	return text
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// callsText returns the plugins that a plugin may call.
func callsText(s policy.State) string {
	if s.Reviewed && len(s.Calls) > 0 {
		return "the tools of " + strings.Join(s.CallsTo(), ", ")
	}
	return "no other plugin, unless the user allows it"
}

// reviewedText returns the state of the review.
func reviewedText(s policy.State, known, same bool) string {
	switch {
	case s.Review == nil:
		return "never"
	case s.Reviewed:
		return "yes, what is there now" + humanize.OnDay(s.Review.At)
	case !known:
		return fmt.Sprintf("version %s%s; it has CHANGED SINCE, and what was reviewed was not kept", s.Review.Version, humanize.OnDay(s.Review.At))
	case same:
		return fmt.Sprintf("version %s%s; it has CHANGED SINCE, in what bundlers add only", s.Review.Version, humanize.OnDay(s.Review.At))
	}
	return fmt.Sprintf("version %s%s; it has CHANGED SINCE, see the section %s", s.Review.Version, humanize.OnDay(s.Review.At), sectionChanges)
}

// settingsText returns the settings and whether they are set, without their values.
func settingsText(one *plugin.Plugin, values *settings.Values) string {
	set := values.Of(one)
	var all []string
	for _, s := range one.Settings {
		text := fmt.Sprintf("%s (%s", s.Key, s.Type)
		if s.Required {
			text += ", required"
		}
		if s.Secret() {
			text += ", secret"
		}
		if set[s.Key] != nil {
			text += ", set"
		}
		all = append(all, text+")")
	}
	return orNone(all)
}

// orNone joins texts with commas; "none" if there are none.
func orNone(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
