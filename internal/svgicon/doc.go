// Package svgicon checks and minifies the SVG files from which a plugin's icons are made. All functions of package
// svgicon are safe for concurrent use.
package svgicon
