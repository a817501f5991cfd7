package toolsearch

import (
	"math"
	"slices"
	"strings"

	"opentabs/internal/nearest"
)

// A word in a tool's name contributes more to the score of the tool than a word in its
// description or in the names of its arguments.
const (
	nameWeight         = 4
	titleWeight        = 3
	siteWeight         = 3
	descriptionWeight  = 1.5
	argumentNameWeight = 0.5
)

// If a match differs from the word in the query, the score of the match is multiplied by a
// weight below 1.
const (
	synonymWeight  = 0.55
	prefixWeight   = 0.8
	misspellWeight = 0.6
)

// exactNameFactor multiplies the score of a tool if the query contains the words of the tool's whole name
// in their order.
const exactNameFactor = 1.5

// The constants k1 and b are the parameters of BM25. In BM25, a lower k1 reduces the
// effect of repeated words, and a lower b reduces the effect of the length of a tool's
// text.
const (
	k1 = 1.2
	b  = 0.6
)

// A word shorter than minBytesForTwoEdits bytes may have one typing error. A longer word may have two.
const minBytesForTwoEdits = 8

// minPrefixChars is the minimum length, in bytes, of a query word that may match longer words.
const minPrefixChars = 3

// maxQueryTerms limits how many words of a query are searched; the rest is ignored.
const maxQueryTerms = 24

// Tool contains the searchable texts of a tool.
type Tool struct {
	// Name is the tool's name without the name of its plugin, such as send_message.
	Name        string
	Title       string
	Description string
	// The field Arguments contains the names of the tool's arguments.
	Arguments []string
}

// SiteIndex is the search index of one site's tools. A SiteIndex is immutable.
type SiteIndex struct {
	postings map[string][]posting
	terms    []string // terms contains the keys of postings, sorted
	names    []string // names contains the terms of each tool's name, as joinTerms returns them
	// toolLengths contains the sum of the weights of all words of each tool.
	toolLengths []float32
	totalLength float64
}

// The type posting is a tool that contains a term, with the summed weight of the term's
// occurrences.
type posting struct {
	tool   int32
	weight float32
}

// NewSiteIndex builds the search index of a site's tools. If a query contains one of the
// siteNames, such as the plugin's name or a host name, the query matches all tools of the
// site.
func NewSiteIndex(siteNames []string, tools []Tool) *SiteIndex {
	p := &SiteIndex{postings: map[string][]posting{}, toolLengths: make([]float32, len(tools))}
	var siteTerms []string
	for _, name := range siteNames {
		for _, term := range siteTermsOf(name) {
			if !slices.Contains(siteTerms, term) {
				siteTerms = append(siteTerms, term)
			}
		}
	}
	termWeights := map[string]float32{}
	var terms []string
	for i, t := range tools {
		p.names = append(p.names, joinTerms(appendTerms(nil, t.Name)))
		clear(termWeights)
		addText := func(text string, weight float32) {
			terms = appendTerms(terms[:0], text)
			for _, term := range terms {
				termWeights[term] += weight
			}
		}
		addText(t.Name, nameWeight)
		addText(t.Title, titleWeight)
		addText(t.Description, descriptionWeight)
		for _, argument := range t.Arguments {
			addText(argument, argumentNameWeight)
		}
		for _, term := range siteTerms {
			termWeights[term] += siteWeight
		}
		for term, weight := range termWeights {
			p.postings[term] = append(p.postings[term], posting{int32(i), weight})
			p.toolLengths[i] += weight
		}
		p.totalLength += float64(p.toolLengths[i])
	}
	for term := range p.postings {
		p.terms = append(p.terms, term)
	}
	slices.Sort(p.terms)
	return p
}

// joinTerms joins terms, each between two spaces, so that a text contains whole terms only.
func joinTerms(terms []string) string { return " " + strings.Join(terms, " ") + " " }

func siteTermsOf(name string) []string {
	words := splitWords(name)
	terms := appendTerms(nil, name)
	if len(words) > 1 {
		terms = append(terms, stem(strings.Join(words, "")))
	}
	return terms
}

// Hit is a tool that matches a query. Site is an index into the argument parts of Search,
// and Tool is an index into the tools of that SiteIndex. The higher the score of a Hit, the
// better its tool matches the query.
type Hit struct {
	Site, Tool int
	Score      float64
}

// Search returns at most limit tools that match a query, best match first. Search multiplies
// the score of each tool by the result of the function scoreFactor; the factor 0 excludes the tool.
func Search(parts []*SiteIndex, query string, limit int, scoreFactor func(part, tool int) float64) []Hit {
	terms := queryTerms(query)
	if len(terms) > maxQueryTerms {
		terms = terms[:maxQueryTerms]
	}
	s := newSearcher(parts)
	for _, term := range terms {
		s.addTerm(term)
	}
	queryText := joinTerms(terms)
	var hits []Hit
	for i := range s.scores {
		for j, score := range s.scores[i] {
			if score <= 0 {
				continue
			}
			termCoverage := float64(s.matchedTermCounts[i][j]) / float64(len(terms))
			if name := parts[i].names[j]; name == queryText || strings.Count(name, " ") > 2 && strings.Contains(queryText, name) {
				score *= exactNameFactor
			}
			if score = score * (0.4 + 0.6*termCoverage) * scoreFactor(i, j); score > 0 {
				hits = append(hits, Hit{i, j, score})
			}
		}
	}
	slices.SortFunc(hits, func(a, c Hit) int {
		switch {
		case a.Score > c.Score:
			return -1
		case a.Score < c.Score:
			return 1
		case a.Site != c.Site:
			return a.Site - c.Site
		}
		return a.Tool - c.Tool
	})
	return hits[:min(limit, len(hits))]
}

// The type searcher adds up the scores of the tools for one query.
type searcher struct {
	parts      []*SiteIndex
	toolCount  float64
	meanLength float64
	// scores[p][t] is the score of tool t of part p. matchedTermCounts[p][t] is the number of query
	// terms that the tool matches.
	scores            [][]float64
	matchedTermCounts [][]int
	bestTermScores    [][]float64
}

func newSearcher(parts []*SiteIndex) *searcher {
	s := &searcher{parts: parts}
	for _, p := range parts {
		n := len(p.toolLengths)
		s.toolCount += float64(n)
		s.meanLength += p.totalLength
		s.scores, s.matchedTermCounts, s.bestTermScores = append(s.scores, make([]float64, n)), append(s.matchedTermCounts, make([]int, n)), append(s.bestTermScores, make([]float64, n))
	}
	s.meanLength /= max(s.toolCount, 1)
	return s
}

// If a tool matches both the term and its synonyms, only the best match adds to the score.
func (s *searcher) addTerm(term string) {
	isFound := s.match([]string{term}, 1, 0)
	// A rare synonym of a common word must not contribute more than the word itself.
	frequency := s.frequencyOf(term)
	for _, phrase := range synonyms()[term] {
		isFound = s.match(phrase, synonymWeight, frequency) || isFound
	}
	if !isFound {
		s.matchMisspelledTerm(term)
	}
	for i := range s.bestTermScores {
		for j, score := range s.bestTermScores[i] {
			if score > 0 {
				s.scores[i][j] += score
				s.matchedTermCounts[i][j]++
				s.bestTermScores[i][j] = 0
			}
		}
	}
}

// frequencyOf returns the number of tools whose text contains the term.
func (s *searcher) frequencyOf(term string) float64 {
	frequency := 0
	for _, p := range s.parts {
		frequency += len(p.postings[term])
	}
	return float64(frequency)
}

// match treats each term of the phrase as if at least minFrequency tools contained it.
func (s *searcher) match(phrase []string, weight, minFrequency float64) bool {
	postingsByTerm := make([][][]posting, len(phrase))
	frequencies := make([]float64, len(phrase))
	for k, term := range phrase {
		postingsByTerm[k] = make([][]posting, len(s.parts))
		for i, p := range s.parts {
			postingsByTerm[k][i] = p.postings[term]
		}
		frequencies[k] = max(s.frequencyOf(term), minFrequency)
	}
	isFound := false
	for i := range s.parts {
		for _, firstPosting := range postingsByTerm[0][i] {
			total := 0.0
			for k := range phrase {
				termWeight, ok := weightOf(postingsByTerm[k][i], firstPosting.tool)
				if !ok {
					total = 0
					break
				}
				total += s.termScore(i, firstPosting.tool, float64(termWeight), frequencies[k])
			}
			if total > 0 {
				isFound = true
				total *= weight
				s.bestTermScores[i][firstPosting.tool] = max(s.bestTermScores[i][firstPosting.tool], total)
			}
		}
	}
	return isFound
}

func weightOf(postings []posting, tool int32) (float32, bool) {
	k, ok := slices.BinarySearchFunc(postings, tool, func(p posting, tool int32) int { return int(p.tool - tool) })
	if !ok {
		return 0, false
	}
	return postings[k].weight, true
}

// The argument frequency of termScore is the number of tools whose text contains the term.
func (s *searcher) termScore(part int, tool int32, weight, frequency float64) float64 {
	inverseFrequency := math.Log(1 + (s.toolCount-frequency+0.5)/(frequency+0.5))
	length := float64(s.parts[part].toolLengths[tool])
	return inverseFrequency * weight * (k1 + 1) / (weight + k1*(1-b+b*length/s.meanLength))
}

func (s *searcher) matchMisspelledTerm(term string) {
	if len(term) < minPrefixChars {
		return
	}
	var longerTerms, similarTerms []string
	for _, p := range s.parts {
		k, _ := slices.BinarySearch(p.terms, term)
		for ; k < len(p.terms) && strings.HasPrefix(p.terms[k], term); k++ {
			if !slices.Contains(longerTerms, p.terms[k]) {
				longerTerms = append(longerTerms, p.terms[k])
			}
		}
		for _, indexedTerm := range p.terms {
			if len(longerTerms) == 0 && isLikelyMisspelling(term, indexedTerm) && !slices.Contains(similarTerms, indexedTerm) {
				similarTerms = append(similarTerms, indexedTerm)
			}
		}
	}
	for _, indexedTerm := range longerTerms {
		s.match([]string{indexedTerm}, prefixWeight, 0)
	}
	if len(longerTerms) > 0 || len(similarTerms) == 0 {
		return
	}
	maxEdits := 1
	if len(term) >= minBytesForTwoEdits {
		maxEdits = 2
	}
	if indexedTerm := nearest.Name(term, similarTerms); indexedTerm != "" && nearest.IsWithinEditDistance(term, indexedTerm, maxEdits) {
		s.match([]string{indexedTerm}, misspellWeight, 0)
	}
}

func isLikelyMisspelling(term, indexedTerm string) bool {
	lengthDifference := len(term) - len(indexedTerm)
	return lengthDifference >= -2 && lengthDifference <= 2 && max(len(term), len(indexedTerm)) > 3 && (term[0] == indexedTerm[0] || term[1:] == indexedTerm[1:])
}
