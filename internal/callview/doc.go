// Package callview shows calls in a terminal: as a list, as lines of events, and as a
// sheet with progress and activities.
//
// [Rows] returns a table of calls, [EventLine] shows one event, [Print] shows one call,
// and [Watch] follows one call. All text of tools, pages and clients in the output is
// safe for a terminal.
package callview
