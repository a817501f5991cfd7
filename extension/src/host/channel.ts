import { ACCEPTED, DOWN, HANDSHAKE, OFFER, UP } from '../handshake.ts';
import { exactInteger } from './number.ts';
import {
  addEventListener,
  apply,
  bare,
  construct,
  dataOf,
  dataProperty,
  defineProperty,
  delay,
  disconnect,
  dispatchEvent,
  documentElementOf,
  firstChildOf,
  isArray,
  isObject,
  lastChildOf,
  NativeMessageChannel,
  NativeMessageEvent,
  NativeMutationObserver,
  observe,
  parseJson,
  port1Of,
  port2Of,
  postMessage,
  probed,
  readyStateOf,
  realDocument,
  removeEventListener,
  soon,
  startPort,
} from './primordials.ts';

/** Channel is the host's end of the connection to the bridge (handshake.ts). */
export interface Channel {
  /** port is the event target of all messages. */
  readonly port: EventTarget;
  up(text: string): void;
  /** listen calls handle for each message of the bridge, in a microtask. handle may throw. */
  listen(handle: (parts: readonly unknown[]) => void): void;
  /**
   * offer sends the channel to the bridge at the first handshake, and never later. Before the first script of the page
   * runs, offer calls done once, with whether a bridge has accepted the channel.
   */
  offer(introduction: string, done: (isAccepted: boolean) => void): void;
  /** give sends the channel in an event of this type on target, and returns whether a bridge has accepted it. */
  give(target: EventTarget, type: string, introduction: string): boolean;
}

/** makeChannel returns a channel without a bridge. */
export function makeChannel(): Channel {
  // The port is only used as an event target.
  const port = firstPort(construct(NativeMessageChannel, []));
  const up = (text: string) => {
    apply(dispatchEvent, port, [makeMessage(UP, text)]);
  };
  const give = (target: EventTarget, type: string, introduction: string): boolean => {
    let isAccepted = false;
    // The bridge answers an offer synchronously.
    const accepted = () => {
      isAccepted = true;
    };
    apply(addEventListener, port, [ACCEPTED, accepted]);
    apply(dispatchEvent, target, [makeMessage(type, introduction, port)]);
    apply(removeEventListener, port, [ACCEPTED, accepted]);
    return isAccepted;
  };
  return {
    port,
    up,
    listen: (handle) => listenOn(port, handle),
    give,
    offer: (introduction, done) => {
      atStart((hasHandshake) => {
        const isAccepted = hasHandshake && isPristine() && give(realDocument, OFFER, introduction);
        // done does not run during the bridge's event, because page code could read this event from `window.event`.
        soon(() => done(isAccepted));
      });
    },
  };
}

/** isPristine reports whether no script of the page can have run yet. */
export function isPristine(): boolean {
  const root = apply(documentElementOf, realDocument, []);
  const child = isObject(root) ? apply(firstChildOf, root, []) : null;
  // The probe's frame exists until the bridge has finished the handshake.
  if (child !== null && !(probed && isObject(root) && apply(lastChildOf, root, []) === child)) return false;
  return apply(readyStateOf, realDocument, []) === 'loading';
}

/**
 * atStart runs work once, when all hosts of the document have started: with true at the bridge's handshake, or with
 * false at the end of the task or at the document's first child. A handshake that the page dispatches comes later and
 * has no effect.
 */
export function atStart(work: (hasHandshake: boolean) => void): void {
  let hasRun = false;
  const runOnce = (hasHandshake: boolean) => {
    if (hasRun) return;
    hasRun = true;
    apply(removeEventListener, realDocument, [HANDSHAKE, received]);
    apply(disconnect, observer, []);
    work(hasHandshake);
  };
  const received = () => runOnce(true);
  const missed = () => runOnce(false);
  const observer = construct(NativeMutationObserver, [missed]);
  apply(addEventListener, realDocument, [HANDSHAKE, received]);
  const options = bare();
  defineProperty(options, 'childList', dataProperty(true));
  defineProperty(options, 'subtree', dataProperty(true));
  apply(observe, observer, [realDocument, options]);
  delay(missed, 0);
}

/** atEndOfTask returns a function that schedules work after the current task, without delay in hidden tabs. */
export function atEndOfTask(work: () => void): () => void {
  const channel = construct(NativeMessageChannel, []);
  const receiver = firstPort(channel);
  const sender = apply(port2Of, channel, []);
  if (!isTarget(sender)) throw new TypeError('opentabs: MessageChannel has no ports');
  apply(addEventListener, receiver, ['message', work]);
  apply(startPort, receiver, []);
  return () => apply(postMessage, sender, [0]);
}

function firstPort(channel: object): MessagePort {
  const port = apply(port1Of, channel, []);
  if (!isTarget(port)) throw new TypeError('opentabs: MessageChannel has no ports');
  return port;
}

function isTarget(value: unknown): value is MessagePort {
  return isObject(value);
}

/** makeMessage creates a MessageEvent with a text and an optional port. */
function makeMessage(type: string, text: string, port?: unknown): Event {
  const init = bare();
  defineProperty(init, 'data', dataProperty(text));
  if (port !== undefined) defineProperty(init, 'ports', dataProperty([port]));
  return construct(NativeMessageEvent, [type, init]);
}

/**
 * listenOn calls handle for each message, in a microtask: page code that a listener calls could read the port from
 * `window.event`.
 */
function listenOn(port: EventTarget, handle: (parts: readonly unknown[]) => void): void {
  const listener = (event: unknown) => {
    const text = isObject(event) ? apply(dataOf, event, []) : undefined;
    if (typeof text !== 'string') return;
    soon(() => {
      try {
        const parts: unknown = parseJson(text, exactInteger);
        if (isObject(parts) && isArray(parts)) handle(parts);
      } catch {
        // Only a bridge of another version sends malformed messages. An uncaught error would be visible to the page.
      }
    });
  };
  apply(addEventListener, port, [DOWN, listener]);
}
