package inspection

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"opentabs/internal/plaintext"
	"opentabs/internal/timetext"
	"opentabs/plugin"
	"opentabs/plugin/policy"
	"opentabs/plugin/review"
	"opentabs/plugin/settings"
)

// maxPageBytes is the longest page of an [Inspection]: what an agent can read at
// once and still think about.
const maxPageBytes = 48 << 10

// The sections of an [Inspection].
const (
	SectionOverview  = "overview"
	sectionTools     = "tools"
	SectionCode      = "code"
	SectionPreScript = "pre-script"
	SectionChanges   = "changes"
	sectionLibraries = "libraries"
)

// Inspection is a plugin as somebody looks at it before it is let in: text in
// sections, each in pages. It never changes.
type Inspection struct {
	// Plugin is what was looked at, Hash that of its content then.
	Plugin *plugin.Plugin
	Hash   string

	sections []inspected
}

// inspected is one section that has something in it.
type inspected struct {
	name  string
	pages []string
}

// Inspect reads all that is to be known of a plugin before it is let in.
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
	in.add(SectionPreScript, code.PreScript)
	in.add(SectionChanges, changes)
	in.add(sectionLibraries, code.Libraries())
	overview := in.overview(p.State(name), code, values, known, changes == "")
	in.sections = slices.Insert(in.sections, 0, inspected{SectionOverview, pagesOf(shownText(overview))})
	return in, nil
}

func (in *Inspection) add(name, text string) {
	if strings.TrimSpace(text) != "" {
		in.sections = append(in.sections, inspected{name, pagesOf(shownText(text))})
	}
}

// shownText is what the author wrote with hidden characters spelled out: code may
// hide instructions from one reader and not from the other.
func shownText(text string) string {
	return plaintext.Replace(text, func(r rune) string {
		if r == '\r' {
			return "" // a line end of Windows
		}
		return fmt.Sprintf(`\u{%x}`, r)
	})
}

// Page returns a page: section is the name of a section for its first page, or a
// name and a number, as in "code/2"; empty stands for the overview. next is what
// to ask for after it; empty if it is the last one of its section. The error names
// the sections.
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

// sectionNames names the sections there are, with their pages: "code (3 pages)".
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

// pagesOf cuts a text into pages, at the ends of lines where it can.
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

// overview is what to know first: what it is, where it works, what it may reach,
// and where to look.
func (in *Inspection) overview(s policy.State, code review.Code, values *settings.Values, known, same bool) string {
	one := in.Plugin
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-13s %s\n", label, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
	}
	line("plugin", "%s %s (%s)", one.Name, one.Version, one.DisplayName)
	line("says", "%s", one.Description)
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
	line("code", "%d bytes of its author, %d bytes that say they are libraries (nobody has checked that)", len(own), len(libraries))
	ownMentions, preMentions, libraryMentions := mentions(own), mentions(code.PreScript), mentions(libraries)
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

// callsText names the other plugins that one may call.
func callsText(s policy.State) string {
	if s.Reviewed && len(s.Calls) > 0 {
		return "the tools of " + strings.Join(s.CallsTo(), ", ")
	}
	return "no other plugin, unless the user allows it"
}

func reviewedText(s policy.State, known, same bool) string {
	switch {
	case s.Review == nil:
		return "never"
	case s.Reviewed:
		return "yes, what is there now" + timetext.OnDay(s.Review.At)
	case !known:
		return fmt.Sprintf("version %s%s; it has CHANGED SINCE, and what was reviewed was not kept", s.Review.Version, timetext.OnDay(s.Review.At))
	case same:
		return fmt.Sprintf("version %s%s; it has CHANGED SINCE, in what bundlers add only", s.Review.Version, timetext.OnDay(s.Review.At))
	}
	return fmt.Sprintf("version %s%s; it has CHANGED SINCE, see the section %s", s.Review.Version, timetext.OnDay(s.Review.At), SectionChanges)
}

// settingsText names the settings and whether they are set, not what they are.
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

func orNone(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
