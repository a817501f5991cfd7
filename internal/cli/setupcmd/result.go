package setupcmd

import "opentabs/internal/setup"

// setupResult is the output of `opentabs setup --json`.
type setupResult struct {
	Clients []clientResult `json:"clients"`
	// Extension is the folder of the unpacked extension; empty if the extension was not
	// written.
	Extension string `json:"extension,omitempty"`
	// IsConnected is true if a browser is connected, and Browser is the name of the browser.
	IsConnected bool   `json:"connected"`
	Browser     string `json:"browser,omitempty"`
	// FirstCall is absent if setup made no call.
	FirstCall *firstCallResult `json:"first_call,omitempty"`
}

// clientState describes what setup did with the configuration of an MCP client.
type clientState string

const (
	clientWritten   clientState = "written"
	clientUnchanged clientState = "set up already"
	clientDeclined  clientState = "declined"
	clientFailed    clientState = "failed"
)

// clientResult describes one MCP client in the output of `opentabs setup --json`.
type clientResult struct {
	ID    string      `json:"id"`
	Title string      `json:"title"`
	File  string      `json:"file"`
	State clientState `json:"state"`
	// Backup is the file with the earlier content; empty if the configuration did not exist
	// or did not change.
	Backup string `json:"backup,omitempty"`
	// ToolCount is the number of tools that the server listed when setup ran the client's
	// command.
	ToolCount int    `json:"tools,omitempty"`
	Error     string `json:"error,omitempty"`
}

func newClientResult(c setup.Client) clientResult {
	return clientResult{ID: c.ID, Title: c.Title, File: c.File}
}

// callState describes the outcome of the call that setup makes at its end.
type callState string

const (
	callDone     callState = "done"
	callDenied   callState = "denied"
	callTimedOut callState = "timed out"
	callFailed   callState = "failed"
)

// firstCallResult describes the first call in the output of `opentabs setup --json`.
type firstCallResult struct {
	// Client is the title of the MCP client whose command made the call.
	Client string    `json:"client"`
	Tool   string    `json:"tool"`
	State  callState `json:"state"`
	// Tabs describes the open tabs, with one line for each tab.
	Tabs  []string `json:"tabs,omitempty"`
	Error string   `json:"error,omitempty"`
}
