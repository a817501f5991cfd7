// Package callview formats calls for a terminal: as a table of calls, as a line per
// event, and as a detailed view with progress and activities.
//
// [Rows] returns a table of calls, [EventLine] formats one event, [Print] prints one
// call, and [Watch] shows a call until it ends. Control characters in the text of tools,
// pages and clients are escaped, so that the text cannot manipulate the terminal.
package callview
