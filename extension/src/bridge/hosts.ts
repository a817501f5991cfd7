import {
  BRIDGE_TO_HOST_EVENT,
  HANDSHAKE_EVENT,
  HOST_OFFER_EVENT,
  HOST_TO_BRIDGE_EVENT,
  OFFER_ACCEPTED_EVENT,
} from '../handshake.ts';

export interface Host {
  readonly plugin: string;
  readonly hash: string;
  /** The field `base` is a hash of the parts of the plugin that a hot reload cannot replace in this document. */
  readonly base?: string;
  readonly awaitsAdapter?: boolean;
  /**
   * usesBase is true for a host that the base (the host that creates other hosts) created because the plugin's code
   * arrived late.
   */
  readonly usesBase?: boolean;
  /** sendText dispatches a message to the host, and returns after the host has handled the message. */
  sendText(hostMessageText: string): void;
}

/**
 * BaseHostPort connects the bridge to the base, the host that creates the hosts of plugins whose code arrives later.
 */
export interface BaseHostPort {
  sendText(hostMessageText: string): void;
}

export interface HostEvents {
  /**
   * The field `frame` is the iframe of the probe script (probe.ts), which does not count as content of the document.
   */
  readonly frame?: unknown;
  /** onHostFound is called once for each host, before the first message of the host. */
  onHostFound(host: Host): void;
  /** onBaseHostFound is called when the bridge has connected to the document's base. */
  onBaseHostFound?(baseHostPort: BaseHostPort): void;
  /**
   * onMessage is called synchronously for each message from a host. The implementation of onMessage must not run code
   * of the page.
   */
  onMessage(host: Host, hostMessageText: string): void;
}

export interface HostDocument extends EventTarget {
  readonly documentElement: { readonly firstChild: unknown; readonly lastChild: unknown } | null;
  readonly readyState: string;
}

/**
 * HOST_PREFIX begins the message with which the base (the host that creates other hosts) offers a new host to the
 * bridge.
 */
const HOST_PREFIX = 'host ';

const MaxHosts = 200;

/**
 * connectOfferingHosts connects the bridge to every host of this document, as handshake.ts describes.
 * connectOfferingHosts must run at document_start, after the hosts have started. After the handshake, a script of the
 * page can send an offer, so connectOfferingHosts stops listening when the handshake ends. Page code can run before the
 * document has content if the root element is a script or an image with an onerror handler.
 */
export function connectOfferingHosts(doc: HostDocument, events: HostEvents): void {
  if (!isPristineDocument(doc, events.frame)) return;
  const connectedPlugins = new Set<string>();
  const onOffer = (event: Event) => {
    const hostOffer = readOffer(event, event instanceof MessageEvent ? event.data : undefined);
    if (!hostOffer || connectedPlugins.size >= MaxHosts || connectedPlugins.has(hostOffer.plugin)) return;
    connectedPlugins.add(hostOffer.plugin);
    if (hostOffer.plugin === '') connectBaseHost(hostOffer.port, events);
    else connectHost(hostOffer, false, events);
  };
  doc.addEventListener(HOST_OFFER_EVENT, onOffer);
  doc.dispatchEvent(new Event(HANDSHAKE_EVENT));
  doc.removeEventListener(HOST_OFFER_EVENT, onOffer);
}

/**
 * awaitLateHost waits for the offer of a host that starts later in an isolated world. The event type `type` is secret,
 * so that the page cannot send a forged offer.
 */
export function awaitLateHost(doc: EventTarget, type: string, plugin: string, events: HostEvents): () => void {
  const onOffer = (event: Event) => {
    const hostOffer = readOffer(event, event instanceof MessageEvent ? event.data : undefined);
    if (hostOffer?.plugin === plugin) connectHost(hostOffer, false, events);
  };
  doc.addEventListener(type, onOffer, { once: true });
  return () => doc.removeEventListener(type, onOffer);
}

interface HostOffer {
  readonly plugin: string;
  readonly hash: string;
  readonly base?: string;
  readonly awaitsAdapter: boolean;
  readonly port: MessagePort;
}

function connectHost({ port, ...hostIntroduction }: HostOffer, usesBaseHost: boolean, events: HostEvents): void {
  const host: Host = {
    ...hostIntroduction,
    usesBase: usesBaseHost,
    sendText: (hostMessageText) => sendToHost(port, hostMessageText),
  };
  port.addEventListener(HOST_TO_BRIDGE_EVENT, (hostMessage) => {
    if (hostMessage instanceof MessageEvent && typeof hostMessage.data === 'string')
      events.onMessage(host, hostMessage.data);
  });
  events.onHostFound(host);
  port.dispatchEvent(new Event(OFFER_ACCEPTED_EVENT));
}

function connectBaseHost(port: MessagePort, events: HostEvents): void {
  const connectedPlugins = new Set<string>();
  port.addEventListener(HOST_TO_BRIDGE_EVENT, (event) => {
    if (!(event instanceof MessageEvent) || typeof event.data !== 'string' || !event.data.startsWith(HOST_PREFIX))
      return;
    const hostOffer = readOffer(event, event.data.slice(HOST_PREFIX.length));
    if (
      !hostOffer ||
      hostOffer.plugin === '' ||
      connectedPlugins.has(hostOffer.plugin) ||
      connectedPlugins.size >= MaxHosts
    )
      return;
    connectedPlugins.add(hostOffer.plugin);
    connectHost(hostOffer, true, events);
  });
  events.onBaseHostFound?.({ sendText: (hostMessageText) => sendToHost(port, hostMessageText) });
  port.dispatchEvent(new Event(OFFER_ACCEPTED_EVENT));
}

/** An integer with fewer than 16 digits is exact as a JavaScript number. */
const longIntegerPattern = /\d{16}/;

/**
 * A leading space in a message means that JavaScript numbers represent all integers in the message exactly. The host
 * uses no regular expressions on messages, because the page can read their input from `RegExp.$_`.
 */
function sendToHost(port: MessagePort, hostMessageText: string): void {
  port.dispatchEvent(
    new MessageEvent(BRIDGE_TO_HOST_EVENT, {
      data: longIntegerPattern.test(hostMessageText) ? hostMessageText : ` ${hostMessageText}`,
    }),
  );
}

/**
 * isPristineDocument returns true if no script of the page can have run yet, because the document is empty and loading.
 */
function isPristineDocument(doc: HostDocument, frame: unknown): boolean {
  const rootElement = doc.documentElement;
  const isEmpty =
    rootElement === null ||
    (rootElement.firstChild === (frame ?? null) && rootElement.firstChild === rootElement.lastChild);
  return isEmpty && doc.readyState === 'loading';
}

function readOffer(event: Event, offerJson: unknown): HostOffer | undefined {
  const port = event instanceof MessageEvent ? event.ports[0] : undefined;
  if (!port || typeof offerJson !== 'string') return undefined;
  try {
    const offerParts: unknown = JSON.parse(offerJson);
    if (!Array.isArray(offerParts)) return undefined;
    const [plugin, hash, baseHash, hasAdapter]: unknown[] = offerParts;
    if (typeof plugin !== 'string' || typeof hash !== 'string') return undefined;
    const hostOffer: HostOffer = { plugin, hash, awaitsAdapter: hasAdapter !== true, port };
    return typeof baseHash === 'string' && baseHash !== '' ? { ...hostOffer, base: baseHash } : hostOffer;
  } catch {
    return undefined;
  }
}
