// Describes how a host and the bridge connect. The host and the bridge both import this file. This file contains only
// names, because the host must not run code that looks up built-ins late.
//
// The host creates a MessageChannel and passes one port inside a synthetic event on the document, synchronously, at
// document_start. The worlds of the host and of the bridge share the port object as a private event target. A message
// is `port.dispatchEvent(new MessageEvent(UP or DOWN, {data: string}))`. The port is only an event target, so no
// message waits for a task. Page code cannot reach the port.
//
// Hosts are registered before the bridge, so hosts start before the bridge. A host sends its offer (its first message)
// only when the bridge starts the handshake. The first host in a document is the base, which belongs to no plugin.
// Plugins whose code arrives later connect through the base. The bridge starts the handshake once, and listens only
// during this handshake. The handshake is over when the bridge's script returns, and so before the first page script
// can run. A handshake that the page starts gets no answer, because each host answers only the first handshake.

/**
 * OFFER is the type of the event that a host dispatches to offer its channel. The data of the offer is the JSON text of
 * [plugin, hash, base, whether the host has an adapter]. The only port of the offer is the channel. In the offer of the
 * base, the plugin is empty.
 */
export const OFFER = 'opentabs:host';
/** HANDSHAKE is the type of the event that the bridge dispatches once, after all hosts have started. */
export const HANDSHAKE = 'opentabs:bridge';
/**
 * ACCEPTED is the type of the event that the bridge dispatches on the port, synchronously, to accept an offer.
 */
export const ACCEPTED = 'taken';
/** UP is the type of messages from host to bridge. DOWN is the type of messages from bridge to host. */
export const UP = 'up';
export const DOWN = 'down';

// Messages from the host consist of an operation, a space, the call's number, and operands: "p 7 2 0 [{...},{...}]".
// Messages from the host are not JSON, so that no step parses a result of 100 MB.
//
//   ready                              the adapter is registered and locked
//   broken <message>                   the adapter failed to start; the message is the reason
//   p <call> <count> <skipped> <json>  reports: the JSON text of an array
//   r <call> <json>                    the result's JSON text
//   n <call>                           the tool returned undefined
//   t <call> <ms> <ms> <ms>            a traced call is about to end: when isReady had returned, when the handler
//                                      started and when the handler had settled, by performance.now()
//   e <call> <json>                    the JSON text of a wire.CallError
//   a <call>                           a cancelled call's handler has settled
//   f <call>                           asked to cancel a call that is not running
//   q <call> <ask> <json>              a request to the server: a wire.ToolAskParams without its IDs
//   s <1 or 0>                         whether the adapter is ready, when that changes
//   l <count> <dropped> <json>         log entries: the JSON text of an array of count wire.LogEntry, after dropped
//                                      others were lost
//   w <ms>                             the next timer is due in ms milliseconds; -1 if there is none
//   armed <nonce>                      the entry point accepts an adapter with this nonce
//   renewed <hash>                     an adapter with this hash replaced the older one
//   kept <message>                     the replacement failed; the message is the reason, and the older adapter stays
//
// The base sends only the following message, in an event that has the new channel as its port:
//
//   host <json>                        an offer for a requested plugin
//
// Each message from the bridge to the host is the JSON text of an array. A space before the array means that the text
// has no integer of 16 or more digits, so the host need not preserve large integers:
//
//   ["call", call, tool, maxBytes, args, prompt, decision]   no decision if no approval was required
//   ["traced", ...]                                          the same as "call", for a traced call
//   ["cancel", call, reason]
//   ["answer", call, ask, ok, value]                         a wire.CallError if not ok; no value for undefined
//   ["resync", call, type]                                   report an activity again
//   ["begin"]                                                the document is parsed: start the adapters that wait for it
//   ["probe"]                                                send the readiness of the adapter
//   ["wake"]                                                 a timer is due
//   ["settings", settings]                                   a wire.PluginSettings that replaces the older one
//   ["renew", nonce, hash]                                   accept one adapter with this hash and nonce at the entry point
//   ["host", options, nonce]                                 to the base: offer a plugin with these options (JSON text),
//                                                            its entry point armed with the nonce
//   ["remove"]                                               the plugin is gone: tear the adapter down and reject calls
//                                                            until the entry point accepts another
