// Package terminal writes the output of commands: results to stdout, and notices,
// questions and progress to stderr.
//
// An [Output] is created once per process with [New]. The following rules apply to all
// output:
//
//   - A command writes only its result to stdout, so that a program can read the result
//     from a pipe. The result of `opentabs mcp` is MCP messages.
//   - A command writes everything else to stderr: notices that begin with "opentabs:", the
//     progress bar, and the server's log.
//   - On a terminal, the output is formatted for the user, with colors and aligned
//     columns. In a pipe, the output contains the same facts as on a terminal, but as
//     plain lines, and each JSON value on one line.
//   - Text from a tool or a page can contain escape sequences that attack the terminal.
//     [escapeText], [escapeJSON] and [SafeLine] escape hidden characters before text is
//     written to a terminal, to stderr or to a log. If stdout is a pipe, hidden characters
//     in a result are not escaped, because a program reads the result.
//
// # Concurrency
//
// An Output is safe for concurrent use, and writes each line at once. Any goroutine may
// update a [ProgressView]. Only one goroutine may use a [RedrawableBlock].
package terminal
