// Package toolsearch is a full-text search for tools by their names, titles, sites,
// descriptions and arguments.
//
// [NewPart] builds the index of one site's tools, and [Search] searches several indexes.
// Search results are ranked by BM25, a standard relevance score, over weighted fields. A word
// in a query also matches its inflections and synonyms. If no tool contains a word of the
// query, the word matches longer words that begin with it, or else the most similar spelling.
//
// # Concurrency
//
// A [Part] is immutable, so several goroutines may search the same Part.
package toolsearch
