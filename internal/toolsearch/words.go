package toolsearch

import (
	_ "embed" // stopwords.txt is part of the program
	"slices"
	"strings"
	"sync"
	"unicode"
)

var stopWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for searchWord := range strings.FieldsSeq(stopWordText) {
		words[searchWord] = true
	}
	return words
})

//go:embed stopwords.txt
var stopWordText string

// splitWords splits a text into words in lower case. In splitWords, a word ends at any character that is not a letter
// or a digit, and before a capital letter, as in sendMessage. Each character in Chinese, Japanese and Korean counts as
// a word.
func splitWords(indexedText string) []string {
	var searchWords []string
	var searchWord strings.Builder
	flush := func() {
		if searchWord.Len() > 0 {
			searchWords = append(searchWords, strings.ToLower(searchWord.String()))
			searchWord.Reset()
		}
	}
	previousRune := ' '
	for _, r := range indexedText {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			flush()
			searchWords = append(searchWords, string(r))
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && unicode.IsLower(previousRune):
			flush()
			searchWord.WriteRune(r)
		default:
			searchWord.WriteRune(r)
		}
		previousRune = r
	}
	flush()
	return searchWords
}

func appendTerms(terms []string, indexedText string) []string {
	isStopWord := stopWords()
	for _, searchWord := range splitWords(indexedText) {
		if !isStopWord[searchWord] {
			terms = append(terms, stem(searchWord))
		}
	}
	return terms
}

// If a query consists only of stop words, such as "the", queryTerms keeps them.
func queryTerms(query string) []string {
	queryWords := appendTerms(nil, query)
	if len(queryWords) == 0 {
		for _, searchWord := range splitWords(query) {
			queryWords = append(queryWords, stem(searchWord))
		}
	}
	var terms []string
	for _, searchTerm := range queryWords {
		if !slices.Contains(terms, searchTerm) {
			terms = append(terms, searchTerm)
		}
	}
	return terms
}

// stem returns the word without its inflection, so that "messages" finds "message" and "creating" finds "create".
func stem(searchWord string) string {
	if len(searchWord) <= 3 || searchWord[0] > unicode.MaxASCII {
		return searchWord
	}
	switch {
	case searchWord == "news":
		return searchWord
	case hasAnySuffix(searchWord, "ies", "ied") && len(searchWord) > 4:
		searchWord = searchWord[:len(searchWord)-3] + "y"
	case hasAnySuffix(searchWord, "sses", "shes", "ches", "xes", "zes"):
		searchWord = searchWord[:len(searchWord)-2]
	case searchWord[len(searchWord)-1] == 's' && !hasAnySuffix(searchWord, "ss", "us", "is"):
		searchWord = searchWord[:len(searchWord)-1]
	}
	switch {
	case strings.HasSuffix(searchWord, "ing") && len(searchWord) > 5:
		searchWord = removeDoubledConsonant(searchWord[:len(searchWord)-3])
	case strings.HasSuffix(searchWord, "ed") && len(searchWord) > 4 && !strings.HasSuffix(searchWord, "eed"):
		searchWord = removeDoubledConsonant(searchWord[:len(searchWord)-2])
	}
	if len(searchWord) > 3 && searchWord[len(searchWord)-1] == 'e' {
		searchWord = searchWord[:len(searchWord)-1]
	}
	return searchWord
}

func hasAnySuffix(searchWord string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(searchWord, suffix) })
}

// The letters l, s and z stay doubled at the end of a stem, because verbs such as "sell" end with them.
func removeDoubledConsonant(searchWord string) string {
	n := len(searchWord)
	if n > 3 && searchWord[n-1] == searchWord[n-2] && !strings.ContainsRune("aeioulsz", rune(searchWord[n-1])) {
		return searchWord[:n-1]
	}
	return searchWord
}
