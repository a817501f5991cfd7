// Package inbound sanitizes what browsers send. The functions limit sizes, drop invalid
// names and IDs, and clean texts for logs, terminals and agents.
//
// # Concurrency
//
// All functions of package inbound are safe for concurrent use.
package inbound
