// Package toolsearch finds tools by words in their names, titles, sites, descriptions
// and arguments.
//
// [NewPart] builds the index of the tools of one site; [Search] searches several
// parts. The ranking is BM25 over weighted fields. A word also finds its inflections
// and synonyms; a word that no tool contains finds the words that begin with it, or
// the words that it probably misspells.
//
// # Concurrency
//
// A [Part] is immutable, so goroutines may search the same parts at the same time.
package toolsearch
