// Package undo undoes calls that are done. The author of a plugin declares which tool
// undoes another tool. To undo a call, an [Undoer] calls the declared tool with arguments
// from the first call's arguments and result.
//
// An [Undoer] undoes each call at most once. A [Memory] keeps the latest calls with their
// results, because results are not recorded on disk by default.
//
// All types of package undo are safe for concurrent use.
package undo
