// Package svgicon builds the icons of a plugin from the SVG files of its author: it
// checks them, minifies them, and derives the missing variants. Start with [Make].
// All functions are pure and safe for concurrent use.
package svgicon
