// Package setup adds opentabs to the configuration files of MCP clients, and takes it out
// again.
//
// [Clients] lists the clients on this machine. [NewChange] computes the new content of a
// client's file, [Change.Write] writes the file after a backup, [Undo] restores the file,
// and [Verify] speaks MCP through the very command that was written.
package setup
