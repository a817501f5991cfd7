// Package inbound sanitizes what browsers send. Its functions limit the sizes of
// values, drop invalid names and IDs, and clean texts for logs, terminals and agents.
//
// # Concurrency
//
// All functions of package inbound are safe for concurrent use.
package inbound
