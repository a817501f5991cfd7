// Package review reads the parts of a plugin that a user reviews, and keeps a copy of
// these parts.
//
// [ReadCode] splits the code of a plugin into the author's code and libraries.
// [Archive] stores the reviewed content and shows later what has changed.
//
// Package review has no locks. An Archive always replaces complete files, so that no
// reader gets a partial file.
package review
