// Package svgicon checks and minifies the SVG files from which a plugin's icons are made.
// Start with [Make]. All functions are safe for concurrent use.
package svgicon
