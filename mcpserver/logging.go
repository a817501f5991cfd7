package mcpserver

import (
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/wire"
)

// waitingLogs is how many log messages may wait for one client; of more the
// oldest are dropped.
const waitingLogs = 100

// LogEntry is what an adapter has logged, as clients are told.
type LogEntry struct {
	Plugin  string
	Level   wire.LogLevel
	Message string
	// Data is a JSON array of what was logged beside the message; nil if nothing
	// was.
	Data json.RawMessage
	// Dropped is how many entries of the plugin are missing before this one.
	Dropped int
}

// logLevels are the levels of MCP, the one that matters least first.
var logLevels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning, mcp.LoggingLevelError,
	mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

// defaultLogLevel is the least level of a client that has set none.
const defaultLogLevel = mcp.LoggingLevelInfo

// Logged tells clients what an adapter has logged (notifications/message). It
// never waits: a client that does not read loses messages, the oldest first.
// Protocol version 2026-07-28 has no such messages outside of requests, so its
// clients hear none.
func (s *Server) Logged(e LogEntry) {
	body := map[string]any{"message": e.Message}
	if e.Data != nil {
		body["data"] = e.Data
	}
	if e.Dropped > 0 {
		body["dropped"] = e.Dropped
	}
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = "notifications/message"
	n.Params.AdditionalFields = map[string]any{"level": string(e.Level), "logger": e.Plugin, "data": body}
	for _, l := range s.sessions.listeners() {
		l.logged(mcp.LoggingLevel(e.Level), n)
	}
}

// logged has the client told of a log message, if it wants that level.
func (l *listener) logged(level mcp.LoggingLevel, n mcp.JSONRPCNotification) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.modern || !l.initialized || slices.Index(logLevels, level) < slices.Index(logLevels, l.leastLevel()) {
		return
	}
	if len(l.logs) == waitingLogs {
		l.logs = slices.Delete(l.logs, 0, 1)
	}
	l.logs = append(l.logs, n)
	l.wake()
}

// leastLevel is the level the client has set. The caller holds mu.
func (l *listener) leastLevel() mcp.LoggingLevel {
	if l.level == "" {
		return defaultLogLevel
	}
	return l.level
}

// SetLogLevel implements server.SessionWithLogging.
func (l *listener) SetLogLevel(level mcp.LoggingLevel) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.level = level
}

// GetLogLevel implements server.SessionWithLogging.
func (l *listener) GetLogLevel() mcp.LoggingLevel {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leastLevel()
}
