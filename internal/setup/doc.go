// Package setup adds opentabs to the configuration files of MCP clients, and removes opentabs from these files.
package setup
