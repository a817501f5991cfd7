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

/** Channel is a host's end of the way to the bridge (handshake.ts). */
export interface Channel {
  /** port is what messages are dispatched on. */
  readonly port: EventTarget;
  up(text: string): void;
  /** listen calls take for each message of the bridge, in a microtask; take may throw. */
  listen(take: (parts: readonly unknown[]) => void): void;
  /**
   * offer hands the channel to the bridge at the first roll call, and to nobody after that, and calls begun once, still
   * before the first script of the page: with whether a bridge has taken it.
   */
  offer(introduction: string, begun: (taken: boolean) => void): void;
  /** give hands the channel to a bridge that waits for an event of this type on target, and returns whether one took it. */
  give(target: EventTarget, type: string, introduction: string): boolean;
}

/** makeChannel returns a channel that nobody has the other end of. */
export function makeChannel(): Channel {
  // The port is used as an event target only.
  const port = firstPort(construct(NativeMessageChannel, []));
  const up = (text: string) => {
    apply(dispatchEvent, port, [message(UP, text)]);
  };
  const give = (target: EventTarget, type: string, introduction: string): boolean => {
    let taken = false;
    // The bridge answers an offer at once, so that the host knows it was heard.
    const heard = () => {
      taken = true;
    };
    apply(addEventListener, port, [ACCEPTED, heard]);
    apply(dispatchEvent, target, [message(type, introduction, port)]);
    apply(removeEventListener, port, [ACCEPTED, heard]);
    return taken;
  };
  return {
    port,
    up,
    listen: (take) => listen(port, take),
    give,
    offer: (introduction, begun) => {
      atStart((called) => {
        const taken = called && pristine() && give(realDocument, OFFER, introduction);
        // Not inside the bridge's own event, which page code could find in `window.event`.
        soon(() => begun(taken));
      });
    },
  };
}

/** pristine reports whether the document is as it was before its first script. */
export function pristine(): boolean {
  const root = apply(documentElementOf, realDocument, []);
  const child = isObject(root) ? apply(firstChildOf, root, []) : null;
  // The probe's frame is there until the bridge has called the roll.
  if (child !== null && !(probed && isObject(root) && apply(lastChildOf, root, []) === child)) return false;
  return apply(readyStateOf, realDocument, []) === 'loading';
}

/**
 * atStart runs work once, when all hosts of the document have started: at the bridge's roll call, which called tells, or
 * without a bridge at the end of the task or at the document's first child. The page can't call the roll after that.
 */
export function atStart(work: (called: boolean) => void): void {
  let begun = false;
  const once = (called: boolean) => {
    if (begun) return;
    begun = true;
    apply(removeEventListener, realDocument, [HANDSHAKE, heard]);
    apply(disconnect, observer, []);
    work(called);
  };
  const heard = () => once(true);
  const missed = () => once(false);
  const observer = construct(NativeMutationObserver, [missed]);
  apply(addEventListener, realDocument, [HANDSHAKE, heard]);
  const what = bare();
  defineProperty(what, 'childList', dataProperty(true));
  defineProperty(what, 'subtree', dataProperty(true));
  apply(observe, observer, [realDocument, what]);
  delay(missed, 0);
}

/** atEndOfTask returns a function that has work run after the current task, also in a hidden tab, where timers wait. */
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

/** message builds an event that carries text. */
function message(type: string, text: string, port?: unknown): Event {
  const init = bare();
  defineProperty(init, 'data', dataProperty(text));
  if (port !== undefined) defineProperty(init, 'ports', dataProperty([port]));
  return construct(NativeMessageEvent, [type, init]);
}

/**
 * listen calls take for each message. The work is done in a microtask: while a listener runs, page code that it calls
 * could take the port from `window.event`.
 */
function listen(port: EventTarget, take: (parts: readonly unknown[]) => void): void {
  const noted = (event: unknown) => {
    const text = isObject(event) ? apply(dataOf, event, []) : undefined;
    if (typeof text !== 'string') return;
    soon(() => {
      try {
        const parts: unknown = parseJson(text, exactInteger);
        if (isObject(parts) && isArray(parts)) take(parts);
      } catch {
        // A message that can't be read is not from the bridge of this version. An error that left this microtask
        // would be shown to the page.
      }
    });
  };
  apply(addEventListener, port, [DOWN, noted]);
}
