// Package svgicon builds the icons of a plugin from the SVG files of its author: it
// checks and minifies them. Start with [Make].
// All functions are pure and safe for concurrent use.
package svgicon
