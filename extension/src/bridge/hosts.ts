import { DOWN, OFFER, ROLL_CALL, TAKEN, UP } from '../handshake.ts';

/** Host is one plugin's host in this document. */
export interface Host {
  readonly plugin: string;
  readonly hash: string;
  /** base names what a new adapter can't change in this document; absent means nothing. */
  readonly base?: string;
  /** empty is set while the host waits for its adapter to come through a door. */
  readonly empty?: boolean;
  /** based is set for a host that the base has made, whose door is the base's. */
  readonly based?: boolean;
  /** send dispatches a message to the host; it returns at once. */
  send(text: string): void;
}

/** Base makes hosts for plugins whose code comes later. */
export interface Base {
  send(text: string): void;
}

/** HostEvents is told what hosts say. */
export interface HostEvents {
  /** frame is the probe's, which is no content; default none. */
  readonly frame?: unknown;
  /** took is called for each host whose port was taken, before it says anything; tookBase for the base, default ignored. */
  took(host: Host): void;
  tookBase?(base: Base): void;
  /** said is called for each message of a host, while the host waits: it must not run page code. */
  said(host: Host, text: string): void;
}

/** Page is the part of a Document that is used here. */
export interface Page extends EventTarget {
  readonly documentElement: { readonly firstChild: unknown; readonly lastChild: unknown } | null;
  readonly readyState: string;
}

/** HOST is what the offer of a host begins with that comes over the base's port. */
const HOST = 'host ';

/** MaxHosts is how many hosts one document may have. */
const MaxHosts = 200;

/**
 * gatherHosts takes the port of every host of this document; see handshake.ts. Call it at document_start, after the
 * hosts have started: it listens only while it calls the roll. Whatever comes later could be the page's: a document whose
 * root is a script, or an image with an onerror, runs page code before it has any content.
 */
export function gatherHosts(doc: Page, events: HostEvents): void {
  if (!pristine(doc, events.frame)) return;
  const seen = new Set<string>();
  const offered = (event: Event) => {
    const offer = readOffer(event, event instanceof MessageEvent ? event.data : undefined);
    if (!offer || seen.size >= MaxHosts || seen.has(offer.plugin)) return;
    seen.add(offer.plugin);
    if (offer.plugin === '') takeBase(offer.port, events);
    else takeHost(offer, false, events);
  };
  doc.addEventListener(OFFER, offered);
  doc.dispatchEvent(new Event(ROLL_CALL));
  doc.removeEventListener(OFFER, offered);
}

/**
 * meetHost takes the port of one host that starts late in a world that the page has no part in. type is the type of the event
 * that it offers itself in; nobody else knows it. It returns a function that ends the wait.
 */
export function meetHost(doc: EventTarget, type: string, plugin: string, events: HostEvents): () => void {
  const offered = (event: Event) => {
    const offer = readOffer(event, event instanceof MessageEvent ? event.data : undefined);
    if (offer?.plugin === plugin) takeHost(offer, false, events);
  };
  doc.addEventListener(type, offered, { once: true });
  return () => doc.removeEventListener(type, offered);
}

/** Offer is what a host introduces itself with. */
interface Offer {
  readonly plugin: string;
  readonly hash: string;
  readonly base?: string;
  readonly empty: boolean;
  readonly port: MessagePort;
}

function takeHost({ port, ...introduction }: Offer, based: boolean, events: HostEvents): void {
  const host: Host = { ...introduction, based, send: (text) => sendDown(port, text) };
  port.addEventListener(UP, (message) => {
    if (message instanceof MessageEvent && typeof message.data === 'string') events.said(host, message.data);
  });
  events.took(host);
  port.dispatchEvent(new Event(TAKEN));
}

/** takeBase takes the port of the base, and of the hosts that come over it. */
function takeBase(port: MessagePort, events: HostEvents): void {
  const hosts = new Set<string>();
  port.addEventListener(UP, (event) => {
    if (!(event instanceof MessageEvent) || typeof event.data !== 'string' || !event.data.startsWith(HOST)) return;
    const offer = readOffer(event, event.data.slice(HOST.length));
    if (!offer || offer.plugin === '' || hosts.has(offer.plugin) || hosts.size >= MaxHosts) return;
    hosts.add(offer.plugin);
    takeHost(offer, true, events);
  });
  events.tookBase?.({ send: (text) => sendDown(port, text) });
  port.dispatchEvent(new Event(TAKEN));
}

function sendDown(port: MessagePort, text: string): void {
  port.dispatchEvent(new MessageEvent(DOWN, { data: text }));
}

/** pristine reports whether no script of the page can have run yet. */
function pristine(doc: Page, frame: unknown): boolean {
  const root = doc.documentElement;
  const empty = root === null || (root.firstChild === (frame ?? null) && root.firstChild === root.lastChild);
  return empty && doc.readyState === 'loading';
}

function readOffer(event: Event, data: unknown): Offer | undefined {
  const port = event instanceof MessageEvent ? event.ports[0] : undefined;
  if (!port || typeof data !== 'string') return undefined;
  try {
    const parts: unknown = JSON.parse(data);
    if (!Array.isArray(parts)) return undefined;
    const [plugin, hash, base, whole]: unknown[] = parts;
    if (typeof plugin !== 'string' || typeof hash !== 'string') return undefined;
    const offer: Offer = { plugin, hash, empty: whole !== true, port };
    return typeof base === 'string' && base !== '' ? { ...offer, base } : offer;
  } catch {
    return undefined;
  }
}
