// Package author is what helps people who write plugins: [Create] makes a small
// one, a [Watch] tells when its source has changed, [Check] says what could be
// better, [Readme] keeps its README true, [Pack] makes a package of it. Only
// package jsbuild builds.
//
// # Concurrency
//
// The functions share nothing and may run at once, as long as they are about
// different directories.
package author
