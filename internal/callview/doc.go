// Package callview shows calls in a terminal: as a list, as lines of events, and as a
// sheet with progress and activities.
//
// [Rows] is the list, [EventLine] one event, [Print] one call, and [Watch] follows a
// call until it ends. All text of tools, pages and clients in the output is safe for a
// terminal.
package callview
