import { ACCEPTED_EVENT, DOWN_MESSAGE, HANDSHAKE_EVENT, OFFER_EVENT, UP_MESSAGE } from '../handshake.ts';

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
  /** The method `send` dispatches a message to the host, and returns after the host has handled the message. */
  send(text: string): void;
}

/** BasePort connects the bridge to the base, the host that creates the hosts of plugins whose code arrives later. */
export interface BasePort {
  send(text: string): void;
}

export interface HostEvents {
  /**
   * The field `frame` is the iframe of the probe script (probe.ts), which does not count as content of the document.
   */
  readonly frame?: unknown;
  /** onHostFound is called once for each host, before the first message of the host. */
  onHostFound(host: Host): void;
  /**
   * onBaseFound is called when the bridge has connected to the base, which is the host that creates further hosts in
   * the document.
   */
  onBaseFound?(base: BasePort): void;
  /**
   * onMessage is called synchronously for each message from a host. The implementation of onMessage must not run code
   * of the page.
   */
  onMessage(host: Host, text: string): void;
}

export interface Page extends EventTarget {
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
 * gatherHosts connects the bridge to every host of this document, as handshake.ts describes. gatherHosts must run at
 * document_start, after the hosts have started. After the handshake, a script of the page can send an offer, so
 * gatherHosts stops listening when the handshake ends. Page code can run before the document has content if the root
 * element is a script or an image with an onerror handler.
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
  doc.addEventListener(OFFER_EVENT, onOffer);
  doc.dispatchEvent(new Event(HANDSHAKE_EVENT));
  doc.removeEventListener(OFFER_EVENT, onOffer);
}

/**
 * awaitLateHost waits for the offer of a host that starts later in an isolated world. The event type `type` is secret,
 * so that the page cannot send a forged offer.
 */
export function awaitLateHost(doc: EventTarget, type: string, plugin: string, events: HostEvents): () => void {
  const onOffer = (event: Event) => {
    const offer = readOffer(event, event instanceof MessageEvent ? event.data : undefined);
    if (offer?.plugin === plugin) connectHost(offer, false, events);
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

function connectHost({ port, ...introduction }: HostOffer, isBased: boolean, events: HostEvents): void {
  const host: Host = { ...introduction, usesBase: isBased, send: (text) => sendToHost(port, text) };
  port.addEventListener(UP_MESSAGE, (message) => {
    if (message instanceof MessageEvent && typeof message.data === 'string') events.onMessage(host, message.data);
  });
  events.onHostFound(host);
  port.dispatchEvent(new Event(ACCEPTED_EVENT));
}

function connectBase(port: MessagePort, events: HostEvents): void {
  const connectedPlugins = new Set<string>();
  port.addEventListener(UP_MESSAGE, (event) => {
    if (!(event instanceof MessageEvent) || typeof event.data !== 'string' || !event.data.startsWith(HOST_PREFIX))
      return;
    const offer = readOffer(event, event.data.slice(HOST_PREFIX.length));
    if (!offer || offer.plugin === '' || connectedPlugins.has(offer.plugin) || connectedPlugins.size >= MaxHosts)
      return;
    connectedPlugins.add(offer.plugin);
    connectHost(offer, true, events);
  });
  events.onBaseFound?.({ send: (text) => sendToHost(port, text) });
  port.dispatchEvent(new Event(ACCEPTED_EVENT));
}

/** An integer with fewer than 16 digits is exact as a JavaScript number. */
const longIntegerPattern = /\d{16}/;

/**
 * A leading space in a message means that JavaScript numbers represent all integers in the message exactly. The host
 * uses no regular expressions on messages, because the page can read their input from `RegExp.$_`.
 */
function sendToHost(port: MessagePort, text: string): void {
  port.dispatchEvent(new MessageEvent(DOWN_MESSAGE, { data: longIntegerPattern.test(text) ? text : ` ${text}` }));
}

/** isPristine returns true if no script of the page can have run yet, because the document is empty and loading. */
function isPristine(doc: Page, frame: unknown): boolean {
  const root = doc.documentElement;
  const isEmpty = root === null || (root.firstChild === (frame ?? null) && root.firstChild === root.lastChild);
  return isEmpty && doc.readyState === 'loading';
}

function readOffer(event: Event, data: unknown): HostOffer | undefined {
  const port = event instanceof MessageEvent ? event.ports[0] : undefined;
  if (!port || typeof data !== 'string') return undefined;
  try {
    const parts: unknown = JSON.parse(data);
    if (!Array.isArray(parts)) return undefined;
    const [plugin, hash, base, hasAdapter]: unknown[] = parts;
    if (typeof plugin !== 'string' || typeof hash !== 'string') return undefined;
    const offer: HostOffer = { plugin, hash, awaitsAdapter: hasAdapter !== true, port };
    return typeof base === 'string' && base !== '' ? { ...offer, base } : offer;
  } catch {
    return undefined;
  }
}
