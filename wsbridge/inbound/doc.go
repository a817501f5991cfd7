// Package inbound sanitizes what browsers send. It limits sizes, drops invalid names and
// IDs, and cleans texts for logs, terminals and agents.
//
// # Concurrency
//
// All functions of package inbound are safe for concurrent use.
package inbound
