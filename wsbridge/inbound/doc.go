// Package inbound makes what browsers send safe to use: it bounds sizes, drops invalid
// names and IDs, and cleans texts for logs, terminals and agents. All functions of
// package inbound are pure.
//
// # Concurrency
//
// All functions are safe for concurrent use.
package inbound
