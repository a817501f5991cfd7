// How host and bridge find each other. Both sides import this file; it holds
// names only, because the host may use no code that looks built-ins up late.
//
// The host makes a MessageChannel and hands one port over inside a synthetic
// event on the document, synchronously, at document_start. Both worlds then
// hold the same port object and use it as a private event target: a message is
// `port.dispatchEvent(new MessageEvent(UP or DOWN, {data: string}))`. The port
// is never posted to, so nothing waits for a task. Page code has no way to it.
//
// Hosts start first, because they are registered first: a host offers at the
// roll call and at no other time. The first of them, the base, is for no plugin: plugins whose code comes later get their
// channels over its own. The bridge calls the roll once and listens
// only meanwhile. That is all over when its script returns, before the first
// page script can run, whatever the document begins with. A roll call of the
// page's finds no host that still offers: the bridge's was the first.

/**
 * OFFER is dispatched by a host; its data is the JSON text of [plugin, hash, base, whether it has an adapter], its one port is
 * the channel. The plugin of the base is empty.
 */
export const OFFER = 'opentabs:host';
/** ROLL_CALL is dispatched once by the bridge, after all hosts have started. */
export const ROLL_CALL = 'opentabs:bridge';
/** TAKEN is dispatched on the port by the bridge, synchronously, to say that it has taken the offer. */
export const TAKEN = 'taken';
/** UP is the type of a message from host to bridge, DOWN of one the other way. */
export const UP = 'up';
export const DOWN = 'down';

// Messages up are an operation, a space, the call's number, and a rest that
// differs: "p 7 2 0 [{...},{...}]". They are not JSON so that a result of
// 100 MB is never parsed on its way.
//
//   ready                              the adapter is registered and locked
//   broken <message>                   it is not; the message says why
//   p <call> <count> <skipped> <json>  reports: the JSON text of an array
//   r <call> <json>                    the result's JSON text
//   n <call>                           the tool returned undefined
//   e <call> <json>                    the JSON text of a wire.CallError
//   a <call>                           a cancelled call's handler has settled
//   f <call>                           asked to cancel a call that is not running
//   q <call> <ask> <json>              what the call asks the server for: a wire.ToolAskParams without its ids
//   s <1 or 0>                         whether the adapter is ready, when that changes
//   l <count> <dropped> <json>         what it has logged: the JSON text of an array of count wire.LogEntry, and how
//                                      many before them were dropped
//   w <ms>                             the next timer is due in ms milliseconds; -1 if there is none
//   armed <nonce>                      the door is ready for who says nonce
//   renewed <hash>                     an adapter with this hash has taken the place of the one before
//   kept <message>                     it could not; the message says why, and the one before goes on
//
// The base says one thing, in an event that has the new channel as its port:
//
//   host <json>                        an offer, for a plugin that was asked for
//
// Messages down are the JSON text of an array:
//
//   ["call", call, tool, maxBytes, args, prompt, decision]   no decision if nobody was asked
//   ["cancel", call, reason]
//   ["answer", call, ask, ok, value]                         a wire.CallError if not ok; no value for undefined
//   ["resync", call, type]                                   report an activity anew
//   ["begin"]                                                the document is parsed: start what waited for that
//   ["probe"]                                                ask the adapter whether it is ready
//   ["wake"]                                                 a timer is due
//   ["settings", settings]                                   a wire.PluginSettings, in place of those before
//   ["renew", nonce, hash]                                   the door takes one adapter with this hash from who says nonce
//   ["host", options, nonce]                                 the base: offer a plugin with these options (JSON text), its
//                                                            door ready for who says nonce
//   ["remove"]                                               the plugin is gone: tear the adapter down, call it no more
//                                                            until the door takes another
