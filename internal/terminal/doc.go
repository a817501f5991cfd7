// Package terminal writes the output of commands: results to stdout, notices,
// questions and progress to stderr.
//
// Start with [New], once for each process. Everything that an [Output] writes follows
// these rules:
//
//   - stdout has the result of the command and nothing else, so that a pipe can
//     read it. For `opentabs mcp` the result is MCP messages.
//   - stderr has everything else for the user: lines that begin with
//     "opentabs:", the progress bar, and the server's log.
//   - A terminal gets text for the user, a pipe gets the same facts in plain
//     lines. JSON is indented on a terminal and one line in a pipe.
//   - Text of a tool or a page never reaches a terminal unchanged, nor stderr or
//     a log, because users read both in a terminal: [safeText], [safeJSON] and
//     [SafeLine] replace hidden characters and escape sequences. A result in a pipe is exact,
//     because a program reads it.
//
// # Concurrency
//
// An Output may be used from several goroutines; each line is written in one
// piece. A [ProgressView] may be updated from any goroutine. A [Block] belongs to
// one goroutine.
package terminal
