package mcpserver

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/wire"
)

// LogEntry is a log entry of an adapter in the form that MCP clients receive.
type LogEntry struct {
	Plugin  string
	Level   wire.LogLevel
	Message string
	// Data is a JSON array of the values that the adapter logged in addition to Message; nil if
	// there are none.
	Data json.RawMessage
	// DroppedCount is how many entries of the plugin were dropped before this entry.
	DroppedCount int
}

// ForwardLog sends a log line to clients as notifications/message, without blocking. If a
// client reads too slowly, ForwardLog drops the client's oldest unread log messages. Clients
// of protocol version 2026-07-28 receive no log lines, because that version has no messages
// outside of requests.
func (s *Server) ForwardLog(e LogEntry) {
	body := map[string]any{"message": e.Message}
	if e.Data != nil {
		body["data"] = e.Data
	}
	if e.DroppedCount > 0 {
		body["dropped"] = e.DroppedCount
	}
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = "notifications/message"
	n.Params.AdditionalFields = map[string]any{"level": string(e.Level), "logger": e.Plugin, "data": body}
	s.transport.Log(mcp.LoggingLevel(e.Level), n)
}
