package plugin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"opentabs/internal/plaintext"
)

// MaxPageBytes is the longest page of an [Inspection]: what an agent can read at
// once and still think about.
const MaxPageBytes = 48 << 10

// The sections of an [Inspection].
const (
	SectionOverview  = "overview"
	SectionTools     = "tools"
	SectionCode      = "code"
	SectionPreScript = "pre-script"
	SectionChanges   = "changes"
	SectionLibraries = "libraries"
)

// Inspection is a plugin as somebody looks at it before it is let in: text in
// sections, each in pages. It never changes.
type Inspection struct {
	// Plugin is what was looked at, Hash that of its content then.
	Plugin *Plugin
	Hash   string

	sections []inspected
}

// inspected is one section that has something in it.
type inspected struct {
	name  string
	pages []string
}

// Inspect reads all that is to be known of a plugin before it is let in.
func (p *Policy) Inspect(name string, values *Values) (*Inspection, error) {
	one, err := p.plugin(name)
	if err != nil {
		return nil, err
	}
	code, err := one.ReadCode()
	if err != nil {
		return nil, err
	}
	changes, known, err := p.Changes(one)
	if err != nil {
		return nil, err
	}
	in := &Inspection{Plugin: one, Hash: one.ContentHash()}
	in.add(SectionTools, toolsText(one))
	in.add(SectionCode, code.Own())
	in.add(SectionPreScript, code.PreScript)
	in.add(SectionChanges, changes)
	in.add(SectionLibraries, code.Libraries())
	overview := in.overview(p.stateOf(name, one), code, values, known, changes == "")
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
	return "", "", fmt.Errorf("the plugin %s has no section %q: name one of %s", in.Plugin.Name, shortText(section), strings.Join(in.Sections(), ", "))
}

// Sections names the sections there are, with their pages: "code (3 pages)".
func (in *Inspection) Sections() []string {
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
	for len(text) > MaxPageBytes {
		cut := strings.LastIndexByte(text[:MaxPageBytes], '\n') + 1
		if cut == 0 {
			for cut = MaxPageBytes; !utf8.RuneStart(text[cut]); cut-- {
			}
		}
		pages, text = append(pages, text[:cut]), text[cut:]
	}
	return append(pages, text)
}

// byCategory puts the tools of one category together, in the order in which the
// categories come; those without one are the last.
func (p *Plugin) byCategory() []*Tool {
	rank := map[string]int{}
	for i, t := range p.Tools {
		if _, known := rank[t.Group]; !known {
			rank[t.Group] = i
		}
	}
	rank[""] = len(p.Tools)
	tools := slices.Clone(p.Tools)
	slices.SortStableFunc(tools, func(a, b *Tool) int { return rank[a.Group] - rank[b.Group] })
	return tools
}

// otherTools is the heading of tools without a category, if there are others.
const otherTools = "Other"

// EachCategory calls f with each category of the plugin's tools and its tools. A
// plugin without categories has one, "".
func (p *Plugin) EachCategory(f func(category string, tools []*Tool)) {
	tools := p.byCategory()
	for len(tools) > 0 {
		n := 1
		for n < len(tools) && tools[n].Group == tools[0].Group {
			n++
		}
		category := tools[0].Group
		if category == "" && n < len(p.Tools) {
			category = otherTools
		}
		f(category, tools[:n])
		tools = tools[n:]
	}
}

func toolsText(one *Plugin) string {
	var b strings.Builder
	for _, t := range one.byCategory() {
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
func (in *Inspection) overview(s State, code Code, values *Values, known, same bool) string {
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
	line("world", "%s", WorldMeaning(one.World))
	if one.StartsLate() {
		line("late", "%s", LateMeaning)
		line("late access", "%s", onOff(s.HasLateAccess()))
	}
	line("may call", "%s", callsText(s))
	own, libraries := code.Own(), code.Libraries()
	line("code", "%d bytes of its author, %d bytes that say they are libraries (nobody has checked that)", len(own), len(libraries))
	ownMentions, preMentions, libraryMentions := Mentions(own), Mentions(code.PreScript), Mentions(libraries)
	line("mentions", "its own code: %s; its pre-script: %s; its libraries: %s",
		orNone(mentionNames(ownMentions)), orNone(mentionNames(preMentions)), orNone(mentionNames(libraryMentions)))
	for _, m := range sortedMentions(ownMentions, preMentions) {
		fmt.Fprintf(&b, "  %s: %s\n", m.Name, m.Meaning)
	}
	line("settings", "%s", settingsText(one, values))
	for _, warning := range one.Warnings {
		line("warning", "%s", warning)
	}
	fmt.Fprintf(&b, "sections      %s\n\n%d tools:\n", strings.Join(in.Sections(), ", "), len(one.Tools))
	one.EachCategory(func(category string, tools []*Tool) {
		if category != "" {
			fmt.Fprintf(&b, "%s:\n", category)
		}
		for _, t := range tools {
			fmt.Fprintf(&b, "  %s: %s\n", t.FullName(), strings.ReplaceAll(t.Description, "\n", " "))
		}
	})
	return b.String()
}

func whereItRuns(one *Plugin) string {
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
func callsText(s State) string {
	if s.Reviewed && len(s.Calls) > 0 {
		return "the tools of " + strings.Join(s.CallsTo(), ", ")
	}
	return "no other plugin, unless the user allows it"
}

func reviewedText(s State, known, same bool) string {
	switch {
	case s.Review == nil:
		return "never"
	case s.Reviewed:
		return "yes, what is there now" + when(s.Review.At)
	case !known:
		return fmt.Sprintf("version %s%s; it has CHANGED SINCE, and what was reviewed was not kept", s.Review.Version, when(s.Review.At))
	case same:
		return fmt.Sprintf("version %s%s; it has CHANGED SINCE, in what bundlers add only", s.Review.Version, when(s.Review.At))
	}
	return fmt.Sprintf("version %s%s; it has CHANGED SINCE, see the section %s", s.Review.Version, when(s.Review.At), SectionChanges)
}

// settingsText names the settings and whether they are set, not what they are.
func settingsText(one *Plugin, values *Values) string {
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
