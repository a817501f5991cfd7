// Package undo undoes calls that are done: it calls the tool that the author declared for
// this, with arguments from the arguments and the result of the call.
//
// An [Undoer] makes the calls, each call at most once. A [Memory] keeps the calls that ended
// last, because results are not recorded by default.
//
// All types are safe for concurrent use.
package undo
