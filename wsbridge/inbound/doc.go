// Package inbound makes what browsers send safe to use: it bounds sizes, drops invalid
// names and IDs, and cleans texts for logs, terminals and agents.
//
// # Concurrency
//
// All functions of package inbound are safe for concurrent use.
package inbound
