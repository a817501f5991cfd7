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
	// BootID changes when the browser restarts and does not change when only the
	// service worker restarts.
	BootID           string `json:"bootId"`
	ExtensionVersion string `json:"extensionVersion"`
	// Proof is the result of the function BrowserProof. Proof proves that the browser
	// has the shared key.
	Proof string `json:"proof"`
}

// HelloResult completes the handshake.
type HelloResult struct {
	// Protocol is the Version of the server.
	Protocol      int    `json:"protocol"`
	ServerVersion string `json:"serverVersion"`
}

// PingParams is empty.
type PingParams struct{}

// PingResult is empty.
type PingResult struct{}
