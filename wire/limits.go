package wire

// Version is the protocol version. The server rejects a browser whose hello has
// another version.
const Version = 1

// Subprotocol is the WebSocket subprotocol of opentabs. The browser also offers a
// subprotocol with its nonce after NonceSubprotocolPrefix, because browsers can't set
// custom WebSocket headers.
const Subprotocol = "opentabs"

// NonceSubprotocolPrefix precedes the browser's nonce in the list of subprotocols
// that the browser offers. The nonce is random and not secret.
const NonceSubprotocolPrefix = "opentabs.nonce."

// KeySubprotocolPrefix precedes the KeyID of a paired browser in the WebSocket
// subprotocols that the browser offers. A browser with the key of the installation offers
// no KeyID.
const KeySubprotocolPrefix = "opentabs.key."

// DefaultPort is the port of a server without settings. A browser uses DefaultPort if the
// user entered no other port.
const DefaultPort = 9527

// MaxFrameBytes is the maximum length of a frame in either direction, in bytes.
const MaxFrameBytes = 64 << 20

// MaxPartChars is the maximum length of one part of a large result, in UTF-16 units. A
// result longer than MaxPartChars is split into several tool.part notifications.
const MaxPartChars = 256 << 10

// DefaultMaxResultBytes is the default maximum length of a call's result, in bytes of
// UTF-8. A call with a result longer than the limit fails with result_too_large.
const DefaultMaxResultBytes = 100 << 20

// MaxMessageChars is the maximum length of a progress message, in UTF-16 units.
// Progress messages longer than MaxMessageChars are truncated.
const MaxMessageChars = 2000

// MaxActivityBytes is the maximum length of an activity's content or patch, in bytes of
// UTF-8. An activity's content or patch longer than MaxActivityBytes is dropped.
const MaxActivityBytes = 256 << 10

// MaxActivityTypes is the maximum number of activities of one call.
const MaxActivityTypes = 16

// MaxAnswerBytes is the maximum length of the answer to a tool.ask, in bytes of UTF-8.
// MaxAnswerBytes limits the result that a tool can get from a nested call.
const MaxAnswerBytes = 16 << 20

// MaxShownArgsBytes and MaxShownActivityBytes limit the arguments of a call and
// one activity in the side panel, in bytes of UTF-8.
const (
	MaxShownArgsBytes     = 16 << 10
	MaxShownActivityBytes = 32 << 10
)

// These constants limit the log entries that adapters send in a plugin.log notification.
// MaxLogEntries is the maximum number of entries in one plugin.log. MaxLogChars is the
// maximum length of each text, in UTF-16 units. MaxLogDataBytes is the maximum length of
// an entry's data, in bytes of JSON. MaxLogArgs is the maximum number of arguments in an
// entry's data. MaxStackChars is the maximum length of a stack trace, in UTF-16 units.
const (
	MaxLogEntries   = 50
	MaxLogChars     = 4096
	MaxLogDataBytes = 64 << 10
	MaxLogArgs      = 10
	MaxStackChars   = 8192
)

// MaxSilenceMs is how long a link may be silent before a peer closes the link, in
// milliseconds. A peer sends a ping after MaxSilenceMs/2 of silence.
//
// MaxSilenceMs is shorter than the grace period, so the peer that detects the silence
// first can wait for the other peer to reconnect. Chrome stops a service worker that
// receives no WebSocket message for 30 s. A ping is a JSON frame, because a WebSocket
// control frame does not count as a message for Chrome.
const MaxSilenceMs = 10000

// CancelTimeoutMs is how long a page may take to answer tool.cancel, in milliseconds.
// If the page does not answer within CancelTimeoutMs, the outcome of the cancellation
// is "ignored".
const CancelTimeoutMs = 2000

// HotReloadWaitMs is how long a hot reload waits for the running calls of a document to
// end, in milliseconds. HotReloadWaitDevMs is the wait for a plugin in development,
// whose author has just saved a file.
const (
	HotReloadWaitMs    = 30000
	HotReloadWaitDevMs = 1000
)

// CloseVersion is the WebSocket close code after a protocol version mismatch.
const CloseVersion = 4001

// CloseReplaced is the WebSocket close code of a link that a newer link of the
// same browser replaced.
const CloseReplaced = 4002

// CloseUnpaired is the WebSocket close code for a browser that offers the KeyID of an
// unknown pairing.
const CloseUnpaired = 4003
