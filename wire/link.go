package wire

// ChallengeParams is the server's part of the handshake.
type ChallengeParams struct {
	// Nonce is random and new for each link.
	Nonce string `json:"nonce"`
	// Proof is the result of the function ServerProof. Proof proves that the server has
	// the shared key.
	Proof string `json:"proof"`
}

// HelloParams is the browser's part of the handshake.
type HelloParams struct {
	// Protocol is the Version of the extension.
	Protocol int `json:"protocol"`
	// BrowserID identifies a browser profile and never changes.
	BrowserID string `json:"browserId"`
	// BrowserName is the name that the user gave the browser. BrowserName is displayed
	// and does not identify the browser.
	BrowserName string `json:"browserName"`
	// HasDefaultName is true if the user has not named the browser. BrowserName then
	// consists of the browser's product and the operating system.
	HasDefaultName bool `json:"hasDefaultName,omitempty"`
	// BootID changes when the browser restarts and does not change when only the
	// service worker restarts.
	BootID           string `json:"bootId"`
	ExtensionVersion string `json:"extensionVersion"`
	// Capabilities are the optional Chrome permissions that the extension has, such as
	// "debugger". The browser reconnects when these permissions change.
	Capabilities []string `json:"capabilities,omitempty"`
	// Proof is the result of the function BrowserProof. Proof proves that the browser
	// has the shared key.
	Proof string `json:"proof"`
}

// HelloResult completes the handshake.
type HelloResult struct {
	// Protocol is the Version of the server.
	Protocol      int    `json:"protocol"`
	ServerVersion string `json:"serverVersion"`
	// PairedKey is the key that replaces the key of the browser's pairing code in later
	// connections. PairedKey is absent if the browser keeps its key.
	PairedKey string `json:"pairedKey,omitempty"`
	// BrowserName is the name under which users see the browser. Browser names are unique
	// on a server.
	BrowserName string `json:"browserName,omitempty"`
	// IsGivenName is true if the user gave the browser its name, in the side panel or by
	// a command.
	IsGivenName bool `json:"isGivenName,omitempty"`
}

// PingParams is empty.
type PingParams struct{}

// PingResult is empty.
type PingResult struct{}
