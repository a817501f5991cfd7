// Package review reads what a user reviews of a plugin, and keeps a copy of it.
//
// [ReadCode] splits the code of a plugin into the author's code and libraries.
// [Archive] stores the reviewed content and shows later what has changed.
//
// The package has no locks. An Archive replaces complete files, so that no reader gets
// a partial one.
package review
