// Package inbound sanitizes the data that browsers send. The functions of package inbound
// limit the sizes of values, drop invalid names and IDs, and clean texts for logs,
// terminals and agents.
//
// # Concurrency
//
// All functions of package inbound are safe for concurrent use.
package inbound
