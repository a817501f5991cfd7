package wire

// Version is the version of the wire protocol. The server rejects a browser whose protocol
// version differs from Version.
const Version = 1

// Subprotocol is the WebSocket subprotocol of opentabs. The browser sends its nonce as a
// second subprotocol, because browsers can't set custom WebSocket headers.
const Subprotocol = "opentabs"

// NonceSubprotocolPrefix precedes the browser's nonce in the WebSocket subprotocols that the
// browser offers. The browser's nonce is random but not secret.
const NonceSubprotocolPrefix = "opentabs.nonce."

// KeySubprotocolPrefix precedes the KeyID of a paired browser in the WebSocket subprotocols
// that the browser offers. A browser that uses the key of the opentabs installation offers
// no KeyID.
const KeySubprotocolPrefix = "opentabs.key."

// DefaultPort is the TCP port of the server unless the user configures another port.
const DefaultPort = 9527

// MaxFrameBytes is the maximum length of a frame in either direction, in bytes.
const MaxFrameBytes = 64 << 20

// MaxPartChars is the maximum length of one part of a large result, in UTF-16 units. A tool result that is longer than
// MaxPartChars is split into several tool.part notifications.
const MaxPartChars = 256 << 10

// DefaultMaxResultBytes is the default maximum length of a call's result, in bytes of
// UTF-8. A call whose result is too long fails with the error result_too_large.
const DefaultMaxResultBytes = 100 << 20

// MaxMessageChars is the maximum length of a progress message, in UTF-16 units. A progress
// message that is longer than MaxMessageChars is truncated.
const MaxMessageChars = 2000

// MaxActivityBytes is the maximum length of an activity's content or patch, in bytes of
// UTF-8. The server drops content and patches that exceed MaxActivityBytes.
const MaxActivityBytes = 256 << 10

// MaxActivityTypes is the maximum number of activities (such as tables) of one call.
const MaxActivityTypes = 16

// MaxAnswerBytes is the maximum length of the answer to a tool.ask, in bytes of UTF-8. A
// nested call whose result is longer than MaxAnswerBytes fails.
const MaxAnswerBytes = 16 << 20

// MaxShownArgsBytes and MaxShownActivityBytes limit how much of a call's arguments and of
// one activity the side panel shows, in bytes of UTF-8.
const (
	MaxShownArgsBytes     = 16 << 10
	MaxShownActivityBytes = 32 << 10
)

// MaxLogEntries is the maximum number of entries in one plugin.log. MaxLogChars is the maximum length of each message
// and each logged text, in UTF-16 units. MaxLogDataBytes is the maximum length of a log entry's data, in bytes of JSON.
// MaxLogArgs is the maximum number of arguments in a log entry's data. MaxStackChars is the maximum length of a stack
// trace, in UTF-16 units.
const (
	MaxLogEntries   = 50
	MaxLogChars     = 4096
	MaxLogDataBytes = 64 << 10
	MaxLogArgs      = 10
	MaxStackChars   = 8192
)

// MaxSilenceMs is the time without received frames after which a peer closes the link, in
// milliseconds. A peer sends a ping after MaxSilenceMs/2 without received frames.
//
// MaxSilenceMs is shorter than the grace period, so that a browser can reconnect before the
// calls of a silent link fail. Chrome stops a service worker that receives no WebSocket
// message for 30 s. A ping is a JSON frame, because a WebSocket control frame would not
// keep the service worker alive.
const MaxSilenceMs = 10000

// CancelTimeoutMs is the time within which a page must answer tool.cancel, in milliseconds.
// If the page does not answer in time, the outcome of the cancellation is "ignored".
const CancelTimeoutMs = 2000

// HotReloadWaitMs is how long a hot reload waits for the running calls of a document to
// end, in milliseconds. HotReloadWaitDevMs replaces HotReloadWaitMs while "opentabs
// plugin dev" runs, and is shorter because the author has just saved a file and waits for
// the new build.
const (
	HotReloadWaitMs    = 30000
	HotReloadWaitDevMs = 1000
)

// CloseVersion is the WebSocket close code for peers with different protocol versions.
const CloseVersion = 4001

// CloseReplaced is the WebSocket close code of a link that a newer link of the
// same browser replaced.
const CloseReplaced = 4002

// CloseUnpaired is the WebSocket close code for a browser that offers the KeyID of an
// unknown pairing.
const CloseUnpaired = 4003
