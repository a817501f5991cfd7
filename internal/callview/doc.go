// Package callview formats calls for a terminal: as a table of calls, as a line per event, and as a detailed view with
// progress and activities.
//
// Control characters in the text of tools, pages and clients are escaped, so that the text cannot manipulate the
// terminal.
package callview
