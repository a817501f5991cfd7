// Package terminal writes the output of commands: results to stdout, and notices,
// questions and progress to stderr.
//
// An [Output] is created once per process with [New]. The following rules apply to all
// output:
//
//   - stdout has only the result of the command, so that a pipe can read the result. The
//     result of `opentabs mcp` is MCP messages.
//   - stderr has everything else for the user: lines that begin with "opentabs:", the
//     progress bar, and the server's log.
//   - On a terminal, the output is formatted for the user. In a pipe, the same facts are
//     plain lines, and JSON is on one line.
//   - Text of a tool or a page may contain escape sequences that attack the terminal.
//     [escapeText], [escapeJSON] and [SafeLine] escape hidden characters before text is
//     written to a terminal, to stderr or to a log. A result in a pipe is not changed,
//     because a program reads the result.
//
// # Concurrency
//
// An Output is safe for concurrent use, and writes each line at once. A [ProgressView]
// may be updated from any goroutine. A [Block] may be used by only one goroutine.
package terminal
