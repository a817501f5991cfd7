// Describes how a host and the bridge connect. Both the host and the bridge import the file handshake.ts. The file
// handshake.ts contains only constants, because imported code might use built-in functions that the page has replaced.
//
// At document_start, the host creates a MessageChannel, and passes one of its ports to the bridge in a synthetic event
// on the document. The JavaScript worlds of the host and of the bridge share the port object, which serves as a private
// event target. To send a message, the host and the bridge call
// `port.dispatchEvent(new MessageEvent(HOST_TO_BRIDGE_EVENT or BRIDGE_TO_HOST_EVENT, {data: string}))`. The port only
// dispatches events, which are synchronous, so messages arrive synchronously. Scripts of the page cannot get the port,
// because the handshake ends before they run.
//
// Chrome runs the hosts before the bridge, because the worker registers the hosts' scripts first. A host sends its
// offer, which is its first message, only when the bridge starts the handshake. The first host in a document is called
// the base; it belongs to no plugin, and creates hosts for plugins whose code arrives later. If the code of a plugin
// arrives after the handshake, the plugin connects through the base. The bridge starts the handshake once, and listens
// only during this handshake. The handshake ends before the first page script can run, because it ends when the
// bridge's script returns. If the page starts a handshake, it gets no response, because each host answers only the
// first handshake.

/**
 * HOST_OFFER_EVENT is the type of the event with which a host offers its channel to the bridge. The data of an offer is
 * the JSON text of [plugin, hash, base, whether the host has an adapter].
 */
export const HOST_OFFER_EVENT = 'opentabs:host';
/** HANDSHAKE_EVENT is the type of the event that the bridge dispatches once, after all hosts have started. */
export const HANDSHAKE_EVENT = 'opentabs:bridge';
/**
 * OFFER_ACCEPTED_EVENT is the type of the event that the bridge dispatches synchronously on an offered port to accept
 * the offer.
 */
export const OFFER_ACCEPTED_EVENT = 'taken';
export const HOST_TO_BRIDGE_EVENT = 'up';
export const BRIDGE_TO_HOST_EVENT = 'down';

// A message from the host consists of an operation, a space, the number of the call, and operands, such as "p 7 2 0
// [{...},{...}]". Messages from the host are not JSON, so that no step has to parse a result of 100 MB.
//
// `ready`: The adapter is registered and locked.
// `broken <message>`: The adapter failed to start, for the reason in the message.
// `p <call> <count> <skipped> <json>`: Progress reports of a call, as the JSON text of an array.
// `r <call> <json>`: The call's result, as JSON text.
// `n <call>`: The tool returned undefined.
// `t <call> <ms> <ms> <ms>`: A traced call is about to end. The operands of the message `t` are times of
// performance.now(): when isReady returned, when the handler started, and when the handler settled.
// `e <call> <json>`: The call failed; the operand is the wire.CallError as JSON text.
// `a <call>`: The handler of a cancelled call has returned or thrown.
// `f <call>`: The host received a cancellation for a call that is not running.
// `q <call> <ask> <json>`: The tool's request to the server, as the JSON text of a wire.ToolAskParams without its IDs.
// `s <1 or 0>`: The adapter became ready (1), or is no longer ready (0).
// `l <count> <dropped> <json>`: Log entries, as the JSON text of an array of `count` wire.LogEntry, after `dropped`
// lost log entries.
// `w <ms>`: The next timer is due in ms milliseconds; -1 means that no timer is pending.
// `armed <nonce>`: The host's entry point now accepts an adapter with this nonce.
// `renewed <hash>`: An adapter with this hash replaced the older adapter.
// `kept <message>`: The older adapter stays, because its replacement failed for the reason in the message.
//
// The base, which is the host that creates other hosts, sends only messages `host`, each in an event with the port of
// the new channel.
//
// `host <json>`: After the bridge has requested a host for a plugin, the base offers the bridge a channel to this host.
//
// Each message from the bridge to the host is the JSON text of an array. The bridge puts a space before a message
// without integers of 16 or more digits, which the host can parse without special handling of large integers.
//
// `["call", call, tool, maxBytes, args, prompt, decision]`: Starts a call; `decision` is absent without an approval.
// `["traced", ...]`: Starts a traced call, with the operands of "call".
// `["cancel", call, reason]`: Cancels a call.
// `["answer", call, ask, ok, value]`: Answers the request `ask` that the tool of `call` made. If ok is false, the
// operand `value` is a wire.CallError. If the answer is undefined, the array of the message `answer` has no `value`.
// `["resync", call, type]`: Requests a new report of an activity.
// `["begin"]`: Reports that the document is parsed, so that the host starts the adapters that wait for the parsing.
// `["probe"]`: Requests the readiness of the adapter.
// `["wake"]`: A timer that the document requested is due.
// `["settings", settings]`: Replaces the settings with this wire.PluginSettings.
// `["renew", nonce, hash]`: Makes the entry point accept one adapter with this hash and nonce.
// `["host", options, nonce]`: Requests a host for a plugin with these options (JSON text) from the base; the host's
// entry point accepts an adapter with the nonce.
// `["remove"]`: The host stops the adapter, and rejects calls until its entry point accepts another adapter.
