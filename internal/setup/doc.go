// Package setup adds opentabs to the configuration files of MCP clients, and removes
// opentabs from these files.
//
// [Clients] lists the supported MCP clients. [PlanChange] plans the new content of a
// client's configuration file. [Writer.Write] backs up and writes the file, and
// [Writer.Undo] restores the backup. [Verify] starts the configured command and checks
// that an MCP session works.
package setup
