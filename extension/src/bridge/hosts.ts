import { ACCEPTED, DOWN, HANDSHAKE, OFFER, UP } from '../handshake.ts';

/** Host is one plugin's host in this document. */
export interface Host {
  readonly plugin: string;
  readonly hash: string;
  /**
   * base is the hash of the plugin's parts that a new adapter cannot replace in this document. Without base, a new
   * adapter can replace all parts of the plugin.
   */
  readonly base?: string;
  /** empty is true while the host waits for its adapter at its entry point. */
  readonly awaitsAdapter?: boolean;
  /** usesBase is true if the base created the host. A host that the base created uses the entry point of the base. */
  readonly usesBase?: boolean;
  /** send dispatches a message to the host and returns at once. */
  send(text: string): void;
}

/** Base creates hosts for plugins whose code arrives later. */
export interface Base {
  send(text: string): void;
}

/** HostEvents receives the hosts of a document and their messages. */
export interface HostEvents {
  /** frame is the probe frame, which does not count as content. By default, the document has no probe frame. */
  readonly frame?: unknown;
  /** hostFound is called once for each host, before its first message. */
  hostFound(host: Host): void;
  /** baseFound is called when the bridge has connected to the base. By default, the bridge ignores the base. */
  baseFound?(base: Base): void;
  /** received is called for each message of a host, synchronously. The function received must not run page code. */
  received(host: Host, text: string): void;
}

/** Page is the part of a Document that the bridge uses. */
export interface Page extends EventTarget {
  readonly documentElement: { readonly firstChild: unknown; readonly lastChild: unknown } | null;
  readonly readyState: string;
}

/** HOST_PREFIX is the prefix of an offer that arrives over the port of the base. */
const HOST_PREFIX = 'host ';

/** MaxHosts is the maximum number of hosts per document. */
const MaxHosts = 200;

/**
 * gatherHosts connects to every host of this document (handshake.ts). Call gatherHosts at document_start, after the
 * hosts have started. Later offers could come from the page, so gatherHosts listens only during the handshake. A
 * document whose root is a script, or an image with an onerror, runs page code before the document has content.
 */
export function gatherHosts(doc: Page, events: HostEvents): void {
  if (!isPristine(doc, events.frame)) return;
  const connectedPlugins = new Set<string>();
  const onOffer = (event: Event) => {
    const offer = readOffer(event, event instanceof MessageEvent ? event.data : undefined);
    if (!offer || connectedPlugins.size >= MaxHosts || connectedPlugins.has(offer.plugin)) return;
    connectedPlugins.add(offer.plugin);
    if (offer.plugin === '') connectBase(offer.port, events);
    else connectHost(offer, false, events);
  };
  doc.addEventListener(OFFER, onOffer);
  doc.dispatchEvent(new Event(HANDSHAKE));
  doc.removeEventListener(OFFER, onOffer);
}

/**
 * awaitLateHost waits for the offer of a late host in an isolated world. The parameter type is the secret event type of
 * the offer. The function that awaitLateHost returns ends the wait for a late host.
 */
export function awaitLateHost(doc: EventTarget, type: string, plugin: string, events: HostEvents): () => void {
  const onOffer = (event: Event) => {
    const offer = readOffer(event, event instanceof MessageEvent ? event.data : undefined);
    if (offer?.plugin === plugin) connectHost(offer, false, events);
  };
  doc.addEventListener(type, onOffer, { once: true });
  return () => doc.removeEventListener(type, onOffer);
}

/** Offer is the first message of a host to the bridge. */
interface Offer {
  readonly plugin: string;
  readonly hash: string;
  readonly base?: string;
  readonly awaitsAdapter: boolean;
  readonly port: MessagePort;
}

function connectHost({ port, ...introduction }: Offer, isBased: boolean, events: HostEvents): void {
  const host: Host = { ...introduction, usesBase: isBased, send: (text) => sendDown(port, text) };
  port.addEventListener(UP, (message) => {
    if (message instanceof MessageEvent && typeof message.data === 'string') events.received(host, message.data);
  });
  events.hostFound(host);
  port.dispatchEvent(new Event(ACCEPTED));
}

/** connectBase connects to the base and to the hosts that the base creates later. */
function connectBase(port: MessagePort, events: HostEvents): void {
  const connectedPlugins = new Set<string>();
  port.addEventListener(UP, (event) => {
    if (!(event instanceof MessageEvent) || typeof event.data !== 'string' || !event.data.startsWith(HOST_PREFIX))
      return;
    const offer = readOffer(event, event.data.slice(HOST_PREFIX.length));
    if (!offer || offer.plugin === '' || connectedPlugins.has(offer.plugin) || connectedPlugins.size >= MaxHosts)
      return;
    connectedPlugins.add(offer.plugin);
    connectHost(offer, true, events);
  });
  events.baseFound?.({ send: (text) => sendDown(port, text) });
  port.dispatchEvent(new Event(ACCEPTED));
}

/** longDigits finds 16 digits in a row. A shorter integer is exact as a JavaScript number. */
const longDigits = /\d{16}/;

/**
 * sendDown dispatches a message to a host. A space before the message reports that all integers of the message are exact
 * as numbers. The host cannot search the message itself: a page could read the message from `RegExp.$_`.
 */
function sendDown(port: MessagePort, text: string): void {
  port.dispatchEvent(new MessageEvent(DOWN, { data: longDigits.test(text) ? text : ` ${text}` }));
}

/** isPristine reports whether no script of the page can have run yet. */
function isPristine(doc: Page, frame: unknown): boolean {
  const root = doc.documentElement;
  const isEmpty = root === null || (root.firstChild === (frame ?? null) && root.firstChild === root.lastChild);
  return isEmpty && doc.readyState === 'loading';
}

function readOffer(event: Event, data: unknown): Offer | undefined {
  const port = event instanceof MessageEvent ? event.ports[0] : undefined;
  if (!port || typeof data !== 'string') return undefined;
  try {
    const parts: unknown = JSON.parse(data);
    if (!Array.isArray(parts)) return undefined;
    const [plugin, hash, base, hasAdapter]: unknown[] = parts;
    if (typeof plugin !== 'string' || typeof hash !== 'string') return undefined;
    const offer: Offer = { plugin, hash, awaitsAdapter: hasAdapter !== true, port };
    return typeof base === 'string' && base !== '' ? { ...offer, base } : offer;
  } catch {
    return undefined;
  }
}
