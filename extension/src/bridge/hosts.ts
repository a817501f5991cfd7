import { DOWN, OFFER, ROLL_CALL, TAKEN, UP } from '../handshake.ts';

/** Host is one plugin's host in this document. */
export interface Host {
  readonly plugin: string;
  readonly hash: string;
  /** send dispatches a message to the host; it returns at once. */
  send(text: string): void;
}

/** HostEvents is told what hosts say. */
export interface HostEvents {
  /** said is called for each message of a host, while the host waits: it must not run page code. */
  said(host: Host, text: string): void;
}

/** gatherHosts takes the port of every host of this document; see handshake.ts. Call it at document_start. */
export function gatherHosts(doc: Document, events: HostEvents): void {
  if (!pristine(doc)) return;
  const stop = new AbortController();
  const seen = new Set<string>();
  const take = (event: Event) => {
    if (!pristine(doc) || !(event instanceof MessageEvent)) return;
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
    port.dispatchEvent(new Event(TAKEN));
  };
  doc.addEventListener(OFFER, take, { signal: stop.signal });
  const observer = new MutationObserver(() => {
    observer.disconnect();
    stop.abort();
  });
  observer.observe(doc, { childList: true, subtree: true });
  doc.dispatchEvent(new Event(ROLL_CALL));
}

/** pristine tells whether no script of the page can have run yet. */
function pristine(doc: Document): boolean {
  return (doc.documentElement === null || doc.documentElement.firstChild === null) && doc.readyState === 'loading';
}

function readIntroduction(data: unknown): { plugin: string; hash: string } | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const parts: unknown = JSON.parse(data);
    if (!Array.isArray(parts)) return undefined;
    const [plugin, hash]: unknown[] = parts;
    return typeof plugin === 'string' && typeof hash === 'string' ? { plugin, hash } : undefined;
  } catch {
    return undefined;
  }
}
