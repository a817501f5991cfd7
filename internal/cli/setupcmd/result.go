package setupcmd

import "opentabs/internal/setup"

type setupResult struct {
	Clients []clientResult `json:"clients"`
	// Extension is the folder of the unpacked extension; empty if the extension was not
	// written.
	Extension   string           `json:"extension,omitempty"`
	IsConnected bool             `json:"connected"`
	Browser     string           `json:"browser,omitempty"`
	FirstCall   *firstCallResult `json:"first_call,omitempty"`
}

type clientState string

const (
	clientWritten  clientState = "written"
	clientKept     clientState = "set up already"
	clientDeclined clientState = "declined"
	clientFailed   clientState = "failed"
)

type clientResult struct {
	ID    string      `json:"id"`
	Title string      `json:"title"`
	File  string      `json:"file"`
	State clientState `json:"state"`
	// Backup is the file with the earlier content; empty if the configuration did not exist
	// or did not change.
	Backup    string `json:"backup,omitempty"`
	ToolCount int    `json:"tools,omitempty"`
	Error     string `json:"error,omitempty"`
}

func newClientResult(c setup.Client) clientResult {
	return clientResult{ID: c.ID, Title: c.Title, File: c.File}
}

type callState string

const (
	callDone     callState = "done"
	callDenied   callState = "denied"
	callTimedOut callState = "timed out"
	callFailed   callState = "failed"
)

type firstCallResult struct {
	Client string    `json:"client"`
	Tool   string    `json:"tool"`
	State  callState `json:"state"`
	Tabs   []string  `json:"tabs,omitempty"`
	Error  string    `json:"error,omitempty"`
}
