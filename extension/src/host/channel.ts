import {
  BRIDGE_TO_HOST_EVENT,
  HANDSHAKE_EVENT,
  HOST_OFFER_EVENT,
  HOST_TO_BRIDGE_EVENT,
  OFFER_ACCEPTED_EVENT,
} from '../handshake.ts';
import { parseExactInteger } from './number.ts';
import {
  addEventListener,
  apply,
  construct,
  dataProperty,
  defineProperty,
  disconnectObserver,
  dispatchEvent,
  documentElementGetter,
  firstChildGetter,
  hasProbeFrame,
  isArray,
  isObject,
  lastChildGetter,
  makeBareObject,
  messageDataGetter,
  NativeMessageChannel,
  NativeMessageEvent,
  NativeMutationObserver,
  nativeSetTimeout,
  observeMutations,
  parseJson,
  port1Getter,
  port2Getter,
  postMessage,
  readyStateGetter,
  realDocument,
  removeEventListener,
  runInMicrotask,
  startPort,
} from './primordials.ts';

/** BridgeChannel is the host's end of the connection to the bridge (handshake.ts). */
export interface BridgeChannel {
  readonly port: EventTarget;
  sendToBridge(messageText: string): void;
  /** listen calls onMessage for each message from the bridge, in a microtask. onMessage may throw. */
  listen(onMessage: (messageParts: readonly unknown[]) => void): void;
  /**
   * offerToBridge offers the channel to the bridge during the first handshake only. The callback `onDecided` is called
   * once, before the first script of the page runs. The argument of `onDecided` is true if a bridge has accepted the
   * channel.
   */
  offerToBridge(offerText: string, onDecided: (isAccepted: boolean) => void): void;
  /**
   * offerThroughPort offers the channel in an event of the given type on `target`, and reports whether a bridge has
   * accepted the channel.
   */
  offerThroughPort(target: EventTarget, type: string, offerText: string): boolean;
}

export function makeChannel(): BridgeChannel {
  // Messages are events that are dispatched on the port; no message is posted through the port.
  const port = getPort1(construct(NativeMessageChannel, []));
  const sendToBridge = (messageText: string) => {
    apply(dispatchEvent, port, [makeMessage(HOST_TO_BRIDGE_EVENT, messageText)]);
  };
  const dispatchOffer = (target: EventTarget, type: string, offerText: string): boolean => {
    let isAccepted = false;
    // The bridge accepts an offer synchronously, while the event is dispatched.
    const markAccepted = () => {
      isAccepted = true;
    };
    apply(addEventListener, port, [OFFER_ACCEPTED_EVENT, markAccepted]);
    apply(dispatchEvent, target, [makeMessage(type, offerText, port)]);
    apply(removeEventListener, port, [OFFER_ACCEPTED_EVENT, markAccepted]);
    return isAccepted;
  };
  return {
    port,
    sendToBridge,
    listen: (onMessage) => addMessageListener(port, onMessage),
    offerThroughPort: dispatchOffer,
    offerToBridge: (offerText, onDecided) => {
      runWhenHostsStarted((hasHandshake) => {
        const isAccepted =
          hasHandshake && hasPristinePage() && dispatchOffer(realDocument, HOST_OFFER_EVENT, offerText);
        // onDecided runs after the dispatch of the bridge's event, because page code could otherwise read the event
        // from `window.event`.
        runInMicrotask(() => onDecided(isAccepted));
      });
    },
  };
}

/** hasPristinePage reports whether no script of the page can have run in the document yet. */
export function hasPristinePage(): boolean {
  const rootElement = apply(documentElementGetter, realDocument, []);
  const firstChild = isObject(rootElement) ? apply(firstChildGetter, rootElement, []) : null;
  // A frame that the probe script (probe.ts) has added stays in the document until the bridge has finished the
  // handshake.
  if (
    firstChild !== null &&
    !(hasProbeFrame && isObject(rootElement) && apply(lastChildGetter, rootElement, []) === firstChild)
  )
    return false;
  return apply(readyStateGetter, realDocument, []) === 'loading';
}

/**
 * runWhenHostsStarted calls onStart once, when all hosts of the document have started. onStart receives true if the
 * bridge started the handshake. onStart receives false if, before any handshake, the current task ended or the document
 * got its first child. If the page dispatches the handshake event after the start, onStart is not called again.
 */
export function runWhenHostsStarted(onStart: (hasHandshake: boolean) => void): void {
  let hasRun = false;
  const startOnce = (hasHandshake: boolean) => {
    if (hasRun) return;
    hasRun = true;
    apply(removeEventListener, realDocument, [HANDSHAKE_EVENT, onHandshake]);
    apply(disconnectObserver, handshakeObserver, []);
    onStart(hasHandshake);
  };
  const onHandshake = () => startOnce(true);
  const onNoHandshake = () => startOnce(false);
  const handshakeObserver = construct(NativeMutationObserver, [onNoHandshake]);
  apply(addEventListener, realDocument, [HANDSHAKE_EVENT, onHandshake]);
  const options = makeBareObject();
  defineProperty(options, 'childList', dataProperty(true));
  defineProperty(options, 'subtree', dataProperty(true));
  apply(observeMutations, handshakeObserver, [realDocument, options]);
  nativeSetTimeout(onNoHandshake, 0);
}

/**
 * runAtEndOfTask returns a function that schedules work after the current task, without the delay that Chrome adds in
 * hidden tabs.
 */
export function runAtEndOfTask(callback: () => void): () => void {
  const channel = construct(NativeMessageChannel, []);
  const receiverPort = getPort1(channel);
  const senderPort = apply(port2Getter, channel, []);
  if (!isEventTarget(senderPort)) throw new TypeError('opentabs: MessageChannel has no ports');
  apply(addEventListener, receiverPort, ['message', callback]);
  apply(startPort, receiverPort, []);
  return () => apply(postMessage, senderPort, [0]);
}

function getPort1(channel: object): MessagePort {
  const port = apply(port1Getter, channel, []);
  if (!isEventTarget(port)) throw new TypeError('opentabs: MessageChannel has no ports');
  return port;
}

function isEventTarget(value: unknown): value is MessagePort {
  return isObject(value);
}

function makeMessage(type: string, messageText: string, port?: unknown): Event {
  const init = makeBareObject();
  defineProperty(init, 'data', dataProperty(messageText));
  if (port !== undefined) defineProperty(init, 'ports', dataProperty([port]));
  return construct(NativeMessageEvent, [type, init]);
}

/**
 * addMessageListener calls onMessage for each message in a microtask, because code of the page could read
 * `window.event` during the event listener.
 */
function addMessageListener(port: EventTarget, onMessage: (messageParts: readonly unknown[]) => void): void {
  const listener = (event: unknown) => {
    const messageText = isObject(event) ? apply(messageDataGetter, event, []) : undefined;
    if (typeof messageText !== 'string') return;
    runInMicrotask(() => {
      try {
        // A reviver function takes most of the time that JSON.parse needs for a short message.
        const messageParts: unknown =
          messageText[0] === ' ' ? parseJson(messageText) : parseJson(messageText, parseExactInteger);
        if (isObject(messageParts) && isArray(messageParts)) onMessage(messageParts);
      } catch {
        // Only a bridge of another version sends messages that a host cannot parse. An error that the host does not
        // catch would be visible to the page.
      }
    });
  };
  apply(addEventListener, port, [BRIDGE_TO_HOST_EVENT, listener]);
}
