package wire

// ChallengeParams is the server's half of the handshake.
type ChallengeParams struct {
	// Nonce is random and new for each connection.
	Nonce string `json:"nonce"`
	// Proof shows that the server knows the key (ServerProof).
	Proof string `json:"proof"`
}

// HelloParams opens a connection.
type HelloParams struct {
	// Protocol is the sender's Version.
	Protocol int `json:"protocol"`
	// BrowserID is stable for one browser profile.
	BrowserID string `json:"browserId"`
	// BrowserName is what the person calls this browser; shown, never used to
	// find anything.
	BrowserName string `json:"browserName"`
	// BootID changes when the browser is started anew, not when only its
	// service worker is.
	BootID string `json:"bootId"`
	// ExtensionVersion is the extension's version.
	ExtensionVersion string `json:"extensionVersion"`
	// Proof shows that the browser knows the key (BrowserProof).
	Proof string `json:"proof"`
}

// HelloResult accepts a connection.
type HelloResult struct {
	// Protocol is the server's Version.
	Protocol int `json:"protocol"`
	// ServerVersion is the server's version.
	ServerVersion string `json:"serverVersion"`
}

// PingParams is empty.
type PingParams struct{}

// PingResult is empty.
type PingResult struct{}
