// Package svgicon makes the icons of a plugin from the SVG files of its author:
// it checks them, makes them small, and makes the variants that are missing. Call
// [Make] first. Everything in it is a pure function and safe for concurrent use.
package svgicon
