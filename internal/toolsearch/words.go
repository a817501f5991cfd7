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
	for word := range strings.FieldsSeq(stopWordText) {
		words[word] = true
	}
	return words
})

//go:embed stopwords.txt
var stopWordText string

// splitWords splits a text into words in lower case. In splitWords, a word ends at any character that is not a letter
// or a digit, and before a capital letter, as in sendMessage. Each character in Chinese, Japanese and Korean counts as
// a word.
func splitWords(text string) []string {
	var words []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	previous := ' '
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			flush()
			words = append(words, string(r))
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && unicode.IsLower(previous):
			flush()
			word.WriteRune(r)
		default:
			word.WriteRune(r)
		}
		previous = r
	}
	flush()
	return words
}

func appendTerms(terms []string, text string) []string {
	isStopWord := stopWords()
	for _, word := range splitWords(text) {
		if !isStopWord[word] {
			terms = append(terms, stem(word))
		}
	}
	return terms
}

// If a query consists only of stop words, such as "the", queryTerms keeps them.
func queryTerms(query string) []string {
	all := appendTerms(nil, query)
	if len(all) == 0 {
		for _, word := range splitWords(query) {
			all = append(all, stem(word))
		}
	}
	var terms []string
	for _, term := range all {
		if !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	return terms
}

// The function stem returns the word without its inflection, so that "messages" finds "message" and "creating"
// finds "create".
func stem(word string) string {
	if len(word) <= 3 || word[0] > unicode.MaxASCII {
		return word
	}
	switch {
	case word == "news":
		return word
	case hasAnySuffix(word, "ies", "ied") && len(word) > 4:
		word = word[:len(word)-3] + "y"
	case hasAnySuffix(word, "sses", "shes", "ches", "xes", "zes"):
		word = word[:len(word)-2]
	case word[len(word)-1] == 's' && !hasAnySuffix(word, "ss", "us", "is"):
		word = word[:len(word)-1]
	}
	switch {
	case strings.HasSuffix(word, "ing") && len(word) > 5:
		word = undouble(word[:len(word)-3])
	case strings.HasSuffix(word, "ed") && len(word) > 4 && !strings.HasSuffix(word, "eed"):
		word = undouble(word[:len(word)-2])
	}
	if len(word) > 3 && word[len(word)-1] == 'e' {
		word = word[:len(word)-1]
	}
	return word
}

func hasAnySuffix(word string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(word, suffix) })
}

// The letters l, s and z stay doubled at the end of a stem, because verbs such as "sell" end with them.
func undouble(word string) string {
	n := len(word)
	if n > 3 && word[n-1] == word[n-2] && !strings.ContainsRune("aeioulsz", rune(word[n-1])) {
		return word[:n-1]
	}
	return word
}
