package toolsearch

import (
	_ "embed" // synonyms.txt is part of the program
	"strings"
	"sync"
)

// synonymText is the file synonyms.txt, which has one group of synonyms per line.
//
//go:embed synonyms.txt
var synonymText string

// A tool matches a synonym phrase only if the tool's text contains all words of the phrase.
var synonyms = sync.OnceValue(func() map[string][][]string {
	synonymGroups := map[string][][]string{}
	for group := range strings.Lines(synonymText) {
		if strings.HasPrefix(group, "#") {
			continue
		}
		var entries [][]string
		group, targetSynonyms, isOneWay := strings.Cut(group, ">")
		group += targetSynonyms
		for entry := range strings.FieldsSeq(group) {
			entries = append(entries, appendTerms(nil, entry))
		}
		for i, from := range entries {
			if len(from) != 1 || isOneWay && i > 0 {
				continue
			}
			for j, to := range entries {
				if i != j && (len(to) > 1 || to[0] != from[0]) {
					synonymGroups[from[0]] = append(synonymGroups[from[0]], to)
				}
			}
		}
	}
	return synonymGroups
})
