// Package review reads the parts of a plugin that a user reviews, and stores a copy of
// the reviewed content.
//
// [ReadCode] splits the code of a plugin into the author's code and libraries. [Archive]
// stores the reviewed content and later shows what has changed.
//
// Package review has no locks. An Archive never changes a file in place but replaces the
// whole file, so that no process reads a partial file.
package review
