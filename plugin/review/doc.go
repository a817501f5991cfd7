// Package review reads what a user reviews of a plugin, and keeps a copy of it.
//
// [ReadCode] splits the code of a plugin into the author's code and libraries.
// [Archive] stores the reviewed content and shows later what has changed.
//
// The package has no locks. An Archive replaces whole files, so that readers never see
// half of one.
package review
