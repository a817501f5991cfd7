import { DOWN, OFFER, ROLL_CALL, TAKEN, UP } from '../handshake.ts';

/** Host is one plugin's host in this document. */
export interface Host {
  readonly plugin: string;
  readonly hash: string;
  /** base names what a new adapter can't change in this document; absent means nothing. */
  readonly base?: string;
  /** send dispatches a message to the host; it returns at once. */
  send(text: string): void;
}

/** HostEvents is told what hosts say. */
export interface HostEvents {
  /** frame is the probe's, which is no content; default none. */
  readonly frame?: unknown;
  /** took is called for each host whose port was taken, before it says anything. */
  took(host: Host): void;
  /** said is called for each message of a host, while the host waits: it must not run page code. */
  said(host: Host, text: string): void;
}

/** Page is the part of a Document that is used here. */
export interface Page extends EventTarget {
  readonly documentElement: { readonly firstChild: unknown; readonly lastChild: unknown } | null;
  readonly readyState: string;
}

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
  const take = (event: Event) => {
    if (!(event instanceof MessageEvent) || seen.size >= MaxHosts) return;
    const [port] = event.ports;
    const introduction = readIntroduction(event.data);
    if (!port || !introduction || seen.has(introduction.plugin)) return;
    seen.add(introduction.plugin);
    const host: Host = {
      ...introduction,
      send: (text) => {
        port.dispatchEvent(new MessageEvent(DOWN, { data: text }));
      },
    };
    port.addEventListener(UP, (message) => {
      if (message instanceof MessageEvent && typeof message.data === 'string') events.said(host, message.data);
    });
    events.took(host);
    port.dispatchEvent(new Event(TAKEN));
  };
  doc.addEventListener(OFFER, take);
  doc.dispatchEvent(new Event(ROLL_CALL));
  doc.removeEventListener(OFFER, take);
}

/** pristine tells whether no script of the page can have run yet. */
function pristine(doc: Page, frame: unknown): boolean {
  const root = doc.documentElement;
  const empty = root === null || (root.firstChild === (frame ?? null) && root.firstChild === root.lastChild);
  return empty && doc.readyState === 'loading';
}

function readIntroduction(data: unknown): Pick<Host, 'plugin' | 'hash' | 'base'> | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const parts: unknown = JSON.parse(data);
    if (!Array.isArray(parts)) return undefined;
    const [plugin, hash, base]: unknown[] = parts;
    if (typeof plugin !== 'string' || typeof hash !== 'string') return undefined;
    return typeof base === 'string' && base !== '' ? { plugin, hash, base } : { plugin, hash };
  } catch {
    return undefined;
  }
}
