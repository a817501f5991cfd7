package wire

// Version is the protocol version. Both ends say theirs in the first frame
// (hello) and the server refuses a browser whose number differs.
const Version = 1

// Subprotocol is the WebSocket subprotocol that both ends agree on. The
// browser offers it together with NonceSubprotocolPrefix + its nonce, because
// a browser can set no other header.
const Subprotocol = "opentabs"

// NonceSubprotocolPrefix comes before the browser's nonce in the list of
// subprotocols that a browser offers. The nonce is random and no secret.
const NonceSubprotocolPrefix = "opentabs.nonce."

// MaxFrameBytes is the largest frame either side accepts, in bytes.
const MaxFrameBytes = 64 << 20

// PartChars is the length of one part of a large result, in UTF-16 units. A
// result text that is longer travels as tool.part notifications.
const PartChars = 256 << 10

// DefaultMaxResultBytes is the largest result of one call, in bytes of UTF-8,
// unless the server's configuration says otherwise. A larger one ends the
// call with result_too_large.
const DefaultMaxResultBytes = 100 << 20

// MaxMessageChars is the longest progress message, in UTF-16 units; a longer
// one is cut.
const MaxMessageChars = 2000

// MaxActivityBytes is the longest content or patch of one activity, in bytes of
// UTF-8; a longer one is dropped.
const MaxActivityBytes = 256 << 10

// MaxActivityTypes is how many activities one call may show.
const MaxActivityTypes = 16

// MaxAnswerBytes is the largest answer to tool.ask, in bytes of UTF-8: what one
// tool may get from another that it calls.
const MaxAnswerBytes = 16 << 20

// MaxShownArgs and MaxShownActivity are how much of a call's arguments and of
// one activity the side panel is told, in bytes of UTF-8.
const (
	MaxShownArgs     = 16 << 10
	MaxShownActivity = 32 << 10
)

// The limits of what adapters log: entries in one plugin.log, the message and each
// text beside it in UTF-16 units, all data of one entry in bytes of JSON, and how
// many arguments beside the message.
const (
	MaxLogEntries = 50
	MaxLogChars   = 4096
	MaxLogBytes   = 64 << 10
	MaxLogData    = 10
)

// SilentMs is how long a side that hears nothing at all waits before it gives
// the connection up, in milliseconds; halfway it sends a ping. It is less than
// the grace period, so that a side that noticed first waits for the other.
// Chrome stops a service worker that sees no WebSocket message for 30 s, and
// control frames do not count, so a ping is a JSON frame.
const SilentMs = 10000

// CancelAnswerMs is how long a page may take to answer tool.cancel, in
// milliseconds; after that the outcome is "ignored".
const CancelAnswerMs = 2000

// SwapWaitMs is how long the calls that run in a document may take to end before
// the adapter there is replaced by a new build, in milliseconds. SwapWaitDevMs
// is the same for a plugin that is being developed: its author has saved a file
// and waits for the new code.
const (
	SwapWaitMs    = 30000
	SwapWaitDevMs = 1000
)

// CloseVersion is the WebSocket close code after a protocol version mismatch.
const CloseVersion = 4001

// CloseReplaced is the WebSocket close code of a connection that a newer one
// of the same browser replaced.
const CloseReplaced = 4002
