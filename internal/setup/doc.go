// Package setup adds opentabs to the configuration files of MCP clients, and removes
// opentabs from these files.
//
// [Clients] lists the MCP clients that setup supports. [NewChange] plans the new content
// of a client's configuration file. [Writer.Write] writes the file after a backup, and
// [Writer.Undo] restores the backup. [Verify] starts the command in the written
// configuration and exchanges MCP messages with it.
package setup
