package wire

// ChallengeParams is the server's part of the handshake on a new link.
type ChallengeParams struct {
	// Nonce is a random string that the server generates for each link.
	Nonce string `json:"nonce"`
	// Proof is the result of ServerProof, which proves that the server has the shared key.
	Proof string `json:"proof"`
}

// HelloParams is the browser's part of the handshake on a new link.
type HelloParams struct {
	// Protocol is the version of the wire protocol that the extension uses: its constant
	// Version.
	Protocol int `json:"protocol"`
	// BrowserID is a permanent ID of the browser profile.
	BrowserID string `json:"browserId"`
	// BrowserName is the browser's display name. BrowserName does not identify the browser,
	// because the user can change the name.
	BrowserName string `json:"browserName"`
	// HasDefaultName is true if the user has not named the browser. The default BrowserName
	// consists of the browser's product name and the operating system.
	HasDefaultName bool `json:"hasDefaultName,omitempty"`
	// BootID changes when the browser restarts, but not when only the extension's service
	// worker restarts.
	BootID           string `json:"bootId"`
	ExtensionVersion string `json:"extensionVersion"`
	// The field Capabilities contains the optional Chrome permissions that the extension
	// has, such as "debugger". When its optional permissions change, the extension
	// reconnects.
	Capabilities []string `json:"capabilities,omitempty"`
	// Proof is the result of BrowserProof, which proves that the browser has the shared key.
	Proof string `json:"proof"`
}

// HelloResult is the server's answer to hello, which completes the handshake.
type HelloResult struct {
	// Protocol is the protocol version of the server, its constant Version.
	Protocol      int    `json:"protocol"`
	ServerVersion string `json:"serverVersion"`
	// PairedKey is a new key for later connections of a browser that connected with a pairing
	// code. PairedKey is absent if the browser keeps its current key.
	PairedKey string `json:"pairedKey,omitempty"`
	// BrowserName is the display name that the server uses for the browser. No two browsers
	// of a server have the same BrowserName.
	BrowserName string `json:"browserName,omitempty"`
	// IsGivenName is true if the user chose the browser's name in the side panel or with a
	// command.
	IsGivenName bool `json:"isGivenName,omitempty"`
}

// PingParams is an empty object: a ping has no parameters.
type PingParams struct{}

// PingResult is an empty object that answers a ping.
type PingResult struct{}
