package toolsearch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

type corpus struct {
	searchParts []*SiteIndex
	sites       []string
	tools       [][]Tool
}

func (c corpus) names(searchHits []Hit) []string {
	var names []string
	for _, h := range searchHits {
		names = append(names, c.sites[h.Site]+"__"+c.tools[h.Site][h.Tool].Name)
	}
	return names
}

func (c corpus) search(query string, limit int) []string {
	return c.names(Search(c.searchParts, query, limit, includeAllTools))
}

func (c corpus) toolCount() int { return len(slices.Concat(c.tools...)) }

func includeAllTools(int, int) float64 { return 1 }

func readCorpus(t testing.TB) (c corpus, displayNames []string) {
	t.Helper()
	fileContent, err := os.ReadFile(filepath.Join("testdata", "tools.txt"))
	if err != nil {
		t.Fatal(err)
	}
	groupStart := 0
	for line := range strings.Lines(string(fileContent)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '=':
			groupStart = len(c.sites)
			for site := range strings.SplitSeq(line[1:], ",") {
				name, displayName, _ := strings.Cut(strings.TrimSpace(site), "=")
				c.sites, displayNames, c.tools = append(c.sites, name), append(displayNames, displayName), append(c.tools, nil)
			}
		default:
			tool := parseTool(t, line)
			for i := groupStart; i < len(c.sites); i++ {
				c.tools[i] = append(c.tools[i], tool)
			}
		}
	}
	return c, displayNames
}

func parseTool(t testing.TB, line string) Tool {
	t.Helper()
	name, argsAndDescription, _ := strings.Cut(line, "(")
	arguments, description, ok := strings.Cut(argsAndDescription, ")")
	if !ok {
		t.Fatalf("tools.txt: the line %q has no list of arguments, want one", line)
	}
	title := strings.ReplaceAll(name, "_", " ")
	return Tool{Name: name, Title: strings.ToUpper(title[:1]) + title[1:], Description: strings.TrimSpace(description), Arguments: strings.Split(arguments, ", ")}
}

func loadCorpus(t testing.TB) corpus {
	t.Helper()
	c, displayNames := readCorpus(t)
	for i := range c.sites {
		c.searchParts = append(c.searchParts, NewSiteIndex([]string{c.sites[i], displayNames[i]}, c.tools[i]))
	}
	if n := c.toolCount(); n < 2449 {
		t.Fatalf("tools.txt has %d tools, want at least 2449", n)
	}
	return c
}

func TestSearchByToolName(t *testing.T) {
	c := loadCorpus(t)
	searchCount, firstRankCount, firstFiveCount := 0, 0, 0
	for i, tools := range c.tools {
		for _, tool := range tools {
			nameTerms := appendTerms(nil, tool.Name)
			firstSentence, _, _ := strings.Cut(tool.Description, ". ")
			var query []string
			for _, searchWord := range splitWords(firstSentence) {
				if !slices.Contains(nameTerms, stem(searchWord)) && !stopWords()[searchWord] && len(query) < 8 {
					query = append(query, searchWord)
				}
			}
			if len(query) < 2 {
				continue
			}
			searchCount++
			name := c.sites[i] + "__" + tool.Name
			queryText := strings.Join(query, " ") + " " + c.sites[i]
			switch rank := slices.Index(c.search(queryText, 5), name); {
			case rank == 0:
				firstRankCount++
				fallthrough
			case rank > 0:
				firstFiveCount++
			case i%8 == 0:
				t.Logf("the query %[2]q does not find %[1]s among the first 5 tools: %[3]v", name, queryText, c.search(queryText, 5))
			}
		}
	}
	t.Logf("%d searches: %.1f %% first, %.1f %% among 5", searchCount, 100*float64(firstRankCount)/float64(searchCount), 100*float64(firstFiveCount)/float64(searchCount))
	if firstFiveCount*100 < searchCount*95 || searchCount < 2000 {
		t.Errorf("%d of %d tools are among the first 5, want at least 95 %%", firstFiveCount, searchCount)
	}
}

func TestSearchByQuestion(t *testing.T) {
	c := loadCorpus(t)
	fileContent, err := os.ReadFile(filepath.Join("testdata", "questions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	questionCount, foundCount := 0, 0
	for line := range strings.Lines(string(fileContent)) {
		question, relevantTools, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if !ok || question[0] == '#' {
			continue
		}
		questionCount++
		foundTools := c.search(question, 8)
		isFound := false
		for relevantTool := range strings.SplitSeq(relevantTools, ", ") {
			site, tool, _ := strings.Cut(relevantTool, "__")
			if i := slices.Index(c.sites, site); i < 0 || !slices.ContainsFunc(c.tools[i], func(t Tool) bool { return t.Name == tool }) {
				t.Errorf("questions.txt: the tool %s is not in tools.txt; correct the name", relevantTool)
			}
			isFound = isFound || slices.Contains(foundTools, relevantTool)
		}
		if isFound {
			foundCount++
		} else {
			t.Logf("%q finds %v, want %s", question, foundTools, relevantTools)
		}
	}
	t.Logf("%d of %d questions are answered", foundCount, questionCount)
	if questionCount < 60 || foundCount*100 < questionCount*90 {
		t.Errorf("%d of %d questions are answered among 8 tools, want at least 60 questions and 90 %%", foundCount, questionCount)
	}
}

var searchQueries = []string{
	"send a message about the quarterly budget to a slack channel", "mesage", "zzzzz", "sc",
	strings.Repeat("list open issues of every project in the repository ", 200),
}

func TestUnusualQueriesFindTools(t *testing.T) {
	c := loadCorpus(t)
	for _, query := range searchQueries {
		if foundTools := c.search(query, 8); len(foundTools) > 8 || len(foundTools) == 0 && len(query) > 5 {
			t.Errorf("the query %.40q finds %d tools, want at most 8, and at least 1 for words", query, len(foundTools))
		}
	}
}

func bookstoreTools() ([]*SiteIndex, []Tool) {
	tools := []Tool{
		{Name: "list_books", Title: "List books", Description: "Lists the books on a shelf.", Arguments: []string{"shelfId", "cursor"}},
		{Name: "add_book", Title: "Add a book", Description: "Puts a book on a shelf.", Arguments: []string{"shelfId", "title"}},
		{Name: "get_configuration", Description: "Returns the configuration.", Arguments: []string{"verbose"}},
		{Name: "play_track", Description: "Plays music."},
	}
	return []*SiteIndex{NewSiteIndex([]string{"my-shelf", "My Shelf"}, tools)}, tools
}

func TestSearch(t *testing.T) {
	searchParts, tools := bookstoreTools()
	for query, want := range map[string]string{
		"books":         "list_books add_book",
		"insert a book": "add_book list_books",                              // a synonym matches
		"config":        "get_configuration",                                // a longer word matches
		"configuratoin": "get_configuration",                                // a similar spelling matches
		"song":          "play_track",                                       // a synonym matches
		"verbose":       "get_configuration",                                // an argument's name matches
		"myshelf title": "add_book play_track get_configuration list_books", // the site's name matches
		"xylophone":     "",
		"":              "",
		"!?":            "",
		"co":            "",
		"list_books":    "list_books add_book",
	} {
		var names []string
		for _, h := range Search(searchParts, query, 10, includeAllTools) {
			names = append(names, tools[h.Tool].Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("the query %q finds %s, want %s", query, got, want)
		}
	}
	if searchHits := Search(nil, "book", 10, includeAllTools); len(searchHits) != 0 {
		t.Errorf("Search without sites returned %v, want no tools", searchHits)
	}
	if searchHits := Search(searchParts, "book", 1, includeAllTools); len(searchHits) != 1 {
		t.Errorf("Search with the limit 1 returned %v, want 1 tool", searchHits)
	}
}

func TestScoreFactorChangesRank(t *testing.T) {
	searchParts, _ := bookstoreTools()
	for scoreFactor, want := range map[float64]int{1: 0, 0.1: 1, 0: -1} {
		searchHits := Search(searchParts, "list books", 10, func(_, tool int) float64 {
			if tool == 0 {
				return scoreFactor
			}
			return 1
		})
		if got := slices.IndexFunc(searchHits, func(h Hit) bool { return h.Tool == 0 }); got != want {
			t.Errorf("with the factor %v, the index of the tool in the results is %d, want %d", scoreFactor, got, want)
		}
	}
}

func TestSearchRanksBestMatchFirst(t *testing.T) {
	c := loadCorpus(t)
	for query, want := range map[string]string{
		"send_message":     "send_message", // the exact name of a tool of several sites
		"list_events":      "list_events",
		"search flights":   "search_flights",
		"flight to berlin": "flight", // a word without a match is not mistaken for another word
		"list":             "list_",  // a synonym has the same stem
	} {
		matches := c.search(query, 3)
		if len(matches) == 0 || slices.ContainsFunc(matches, func(name string) bool { return !strings.Contains(name, want) }) {
			t.Errorf("the query %q finds %v, want only names that contain %s", query, matches, want)
		}
	}
}

func BenchmarkNewSiteIndex(b *testing.B) {
	c, _ := readCorpus(b)
	b.ReportMetric(float64(c.toolCount()), "tools")
	for b.Loop() {
		for i := range c.sites {
			NewSiteIndex([]string{c.sites[i]}, c.tools[i])
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	c := loadCorpus(b)
	var times []time.Duration
	for b.Loop() {
		startTime := time.Now()
		c.search(searchQueries[len(times)%len(searchQueries)], 8)
		times = append(times, time.Since(startTime))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
}
