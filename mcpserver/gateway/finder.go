package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"opentabs/internal/nearest"
	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
	"opentabs/internal/toolsearch"
)

const (
	// defaultLimit and maxLimit are the default and the maximum number of found tools.
	defaultLimit, maxLimit = 8, 50
	// maxSummaryChars is the maximum length of the description of a found tool, in characters.
	maxSummaryChars = 100
	// maxShownArguments is the maximum number of arguments in a tool's signature.
	maxShownArguments = 8
)

// switchedOffScoreFactor reduces the search score of a tool that the user has switched off.
const switchedOffScoreFactor = 0.3

// Site is a plugin with its tools. A Site must not change while a Finder uses it.
type Site struct {
	// Name is the plugin's name, with which the names of its tools begin. DisplayName is
	// the plugin's name for users.
	Name, DisplayName string
	// The field Tools contains the plugin's tools in the order in which they are listed.
	Tools []Tool
	// Source identifies the tools of the site: two sites with equal tools have an equal
	// Source.
	Source any
}

// Tool is a tool as tools_search finds it.
type Tool struct {
	// FullName is the name for calls, such as slack__send_message. Name is the tool's
	// name without the name of its plugin, such as send_message.
	FullName, Name string
	Title          string
	Description    string
	InputSchema    json.RawMessage
}

// Availability is whether a tool is switched on, which determines whether a search finds
// the tool.
type Availability int

const (
	// Available is the availability of a tool that the user has not switched off.
	Available Availability = iota
	// Off is the availability of a tool that the user has switched off. A search lists
	// tools that are off after all other tools.
	Off
	// Hidden is the availability of a tool that no search finds.
	Hidden
)

// Query describes a search for tools.
type Query struct {
	// Text contains the words to search for. If Text is empty, the search returns all
	// tools of the site.
	Text string
	// Site is the name of a site, or words of its name. If Site is empty, the search
	// covers all sites.
	Site string
	// Limit is the maximum number of found tools; 0 selects the default.
	Limit int
	// Availability returns the availability of a tool.
	Availability func(site *Site, tool *Tool) Availability
}

// SearchResult is one search result: a tool and its site.
type SearchResult struct {
	Site *Site
	Tool *Tool
}

// Finder searches tools. The zero value is ready to use. The index of a site is built
// when a search first needs it, and is dropped when a search no longer covers the site. A
// Finder is safe for concurrent use.
type Finder struct {
	mu          sync.Mutex // guards searchParts
	searchParts map[any]*toolsearch.SiteIndex
}

// Find returns the tools that match a query, best match first. If no site has the name in
// the query, problemText is a sentence for the agent that names the unknown site.
func (f *Finder) Find(sites []Site, q Query) (searchResults []SearchResult, problemText string) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Limit = min(q.Limit, maxLimit)
	indexes, problemText := matchSites(sites, q.Site)
	if problemText != "" {
		return nil, problemText
	}
	if strings.TrimSpace(q.Text) == "" {
		return listTools(sites, indexes, q), ""
	}
	searchParts := f.buildSearchParts(sites)
	searchHits := toolsearch.Search(searchParts, q.Text, q.Limit, func(partIndex, tool int) float64 {
		if _, isMatchedSite := slices.BinarySearch(indexes, partIndex); !isMatchedSite {
			return 0
		}
		switch q.Availability(&sites[partIndex], &sites[partIndex].Tools[tool]) {
		case Available:
			return 1
		case Off:
			return switchedOffScoreFactor
		}
		return 0
	})
	for _, h := range searchHits {
		searchResults = append(searchResults, SearchResult{&sites[h.Site], &sites[h.Site].Tools[h.Tool]})
	}
	return searchResults, ""
}

func listTools(sites []Site, indexes []int, q Query) []SearchResult {
	var availableTools, off []SearchResult
	for _, i := range indexes {
		for j := range sites[i].Tools {
			searchResult := SearchResult{&sites[i], &sites[i].Tools[j]}
			switch q.Availability(searchResult.Site, searchResult.Tool) {
			case Available:
				availableTools = append(availableTools, searchResult)
			case Off:
				off = append(off, searchResult)
			}
		}
	}
	searchResults := append(availableTools, off...)
	return searchResults[:min(q.Limit, len(searchResults))]
}

// matchSites returns the indexes of the sites that match a name, in ascending order.
func matchSites(sites []Site, name string) (indexes []int, problemText string) {
	var similarSites []int
	wantedSite := strings.ToLower(strings.TrimSpace(name))
	var names []string
	for i, site := range sites {
		names = append(names, site.Name)
		switch {
		case wantedSite == "" || wantedSite == site.Name || wantedSite == strings.ToLower(site.DisplayName):
			indexes = append(indexes, i)
		case strings.Contains(site.Name, wantedSite) || strings.Contains(strings.ToLower(site.DisplayName), wantedSite):
			similarSites = append(similarSites, i)
		}
	}
	if indexes == nil {
		indexes = similarSites
	}
	if indexes != nil || len(names) == 0 {
		return indexes, ""
	}
	return nil, fmt.Sprintf("There is no site %q%s. Leave site out to search all sites.", name, nearest.Suggestion(wantedSite, names))
}

func (f *Finder) buildSearchParts(sites []Site) []*toolsearch.SiteIndex {
	f.mu.Lock()
	defer f.mu.Unlock()
	reusedParts := map[any]*toolsearch.SiteIndex{}
	searchParts := make([]*toolsearch.SiteIndex, len(sites))
	for i, site := range sites {
		sitePart := f.searchParts[site.Source]
		if sitePart == nil {
			sitePart = newSearchPart(site)
		}
		reusedParts[site.Source], searchParts[i] = sitePart, sitePart
	}
	f.searchParts = reusedParts
	return searchParts
}

func newSearchPart(site Site) *toolsearch.SiteIndex {
	tools := make([]toolsearch.Tool, len(site.Tools))
	for i, t := range site.Tools {
		tools[i] = toolsearch.Tool{Name: t.Name, Title: t.Title, Description: t.Description}
		for m := range rawjson.Members(rawjson.Get(t.InputSchema, "properties")) {
			tools[i].Arguments = append(tools[i].Arguments, m.Key)
		}
	}
	return toolsearch.NewSiteIndex([]string{site.Name, site.DisplayName}, tools)
}

// Line describes a tool in one line: its signature, the first sentence of its
// description, and its labels.
func (t *Tool) Line(toolLabels []string) string {
	line := t.signature()
	if summary := t.summary(); summary != "" {
		line += " - " + summary
	}
	if len(toolLabels) > 0 {
		line += " [" + strings.Join(toolLabels, ", ") + "]"
	}
	return line
}

// The method signature returns the tool's name with its arguments, such as
// "name(required, optional?)".
func (t *Tool) signature() string {
	var requiredNames []string
	for _, name := range rawjson.Elements(rawjson.Get(t.InputSchema, "required")) {
		requiredNames = append(requiredNames, rawjson.Unquote(name))
	}
	var arguments, optionalArguments []string
	for m := range rawjson.Members(rawjson.Get(t.InputSchema, "properties")) {
		if name := plaintext.Line(m.Key, maxSummaryChars); slices.Contains(requiredNames, m.Key) {
			arguments = append(arguments, name)
		} else {
			optionalArguments = append(optionalArguments, name+"?")
		}
	}
	arguments = append(arguments, optionalArguments...)
	if len(arguments) > maxShownArguments {
		arguments = append(arguments[:maxShownArguments], "...")
	}
	return t.FullName + "(" + strings.Join(arguments, ", ") + ")"
}

func (t *Tool) summary() string {
	summary := firstSentence(plaintext.Line(t.Description, 4*maxSummaryChars))
	if summaryRunes := []rune(summary); len(summaryRunes) > maxSummaryChars {
		return string(summaryRunes[:maxSummaryChars-1]) + "…"
	}
	return summary
}

// firstSentence ends at the first period before a capital letter, because other periods can belong to abbreviations
// such as "e.g.".
func firstSentence(summary string) string {
	for i := range summary {
		nextSentence, ok := strings.CutPrefix(summary[i:], ". ")
		if nextRune, _ := utf8.DecodeRuneInString(nextSentence); ok && unicode.IsUpper(nextRune) {
			return summary[:i+1]
		}
	}
	return summary
}

// DescribeSites lists the sites with their number of available tools, for a search
// without words. DescribeSites returns "" if no tool is available.
func DescribeSites(sites []Site, availability func(*Site, *Tool) Availability) string {
	var lines []string
	for i := range sites {
		n := 0
		for j := range sites[i].Tools {
			if availability(&sites[i], &sites[i].Tools[j]) == Available {
				n++
			}
		}
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d", sites[i].Name, n))
		}
	}
	if lines == nil {
		return ""
	}
	return "Sites with their number of tools:\n" + strings.Join(lines, "\n")
}

// FindSimilarNames returns the names of up to 5 available tools that are similar to an unknown
// tool name.
func (f *Finder) FindSimilarNames(sites []Site, name string, availability func(*Site, *Tool) Availability) []string {
	var names []string
	for i := range sites {
		for j := range sites[i].Tools {
			if t := &sites[i].Tools[j]; availability(&sites[i], t) == Available {
				names = append(names, t.FullName)
			}
		}
	}
	var similarNames []string
	if nearestName := nearest.Name(name, names); nearestName != "" {
		similarNames = append(similarNames, nearestName)
	}
	searchResults, _ := f.Find(sites, Query{Text: name, Limit: 5, Availability: availability})
	for _, hit := range searchResults {
		if len(similarNames) < 5 && slices.Contains(names, hit.Tool.FullName) && !slices.Contains(similarNames, hit.Tool.FullName) {
			similarNames = append(similarNames, hit.Tool.FullName)
		}
	}
	return similarNames
}

// UnknownToolText returns the error for an agent that called a tool that does not exist.
// The argument similarNames contains names of tools that are similar to an unknown name. If
// isGatewayListed is true, the text recommends tools_search instead of tools/list.
func UnknownToolText(name string, similarNames []string, isGatewayListed bool) string {
	search := "List the tools (tools/list)"
	if isGatewayListed {
		search = "Search for a tool (tools_search)"
	}
	if len(similarNames) == 0 {
		return fmt.Sprintf("There is no tool %q. %s, then call again.", name, search)
	}
	return fmt.Sprintf("There is no tool %q. Similar names: %s. Call one of those. %s if none of them fits.", name, strings.Join(similarNames, ", "), search)
}

// SchemaText returns the last sentence of an error about a tool's arguments: the tool's
// input schema. A client that calls tools through the gateway has not listed their
// schemas.
func SchemaText(name string, schema json.RawMessage) string {
	return "\nThe schema of the arguments of " + name + ": " + string(schema)
}
