// Package toolsearch is a full-text search for tools by their names, titles, sites, descriptions and arguments.
//
// Search results are ranked by BM25, a standard relevance score, over weighted fields. A word in a query matches
// inflections and synonyms of the word. If no tool contains a word of the query, longer words that begin with the word
// match, or else the most similar spelling.
//
// # Concurrency
//
// A [SiteIndex] is immutable, so several goroutines may search the same SiteIndex.
package toolsearch
