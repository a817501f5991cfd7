/** PollMs is how often a tab is looked at whose document has begun to navigate, in milliseconds. */
const PollMs = 100;
/** SeenMs is how long a tab may take to show that it loads, in milliseconds. */
const SeenMs = 1000;
/** HeldMs is how long a call waits at most for the document that a navigation brings, in milliseconds. */
const HeldMs = 5000;

/** Navigating knows the documents that have begun to navigate: no call should begin in them any more. */
export interface Navigating {
  /** told notes what a document says of itself. */
  told(tabId: number, documentId: string, navigating: boolean): void;
  /** gone forgets a document, and the calls that wait for it. */
  gone(documentId: string): void;
  /**
   * hold calls start once a call may be handed to the document: at once, unless it navigates. Then when its navigation has
   * come to nothing (a download, an empty answer, a person who stays), or takes too long.
   */
  hold(documentId: string, start: () => void): void;
}

interface Entry {
  readonly tabId: number;
  /** since is when it said so first, last when it did last. */
  readonly since: number;
  last: number;
  /** seen is whether its tab was seen to load. */
  seen: boolean;
  readonly waiting: (() => void)[];
}

/** makeNavigating returns a Navigating that asks loading whether a tab loads. */
export function makeNavigating(loading: (tabId: number) => Promise<boolean>): Navigating {
  const entries = new Map<string, Entry>();

  const release = (documentId: string) => {
    const waiting = entries.get(documentId)?.waiting ?? [];
    entries.delete(documentId);
    for (const start of waiting) start();
  };
  const look = async (documentId: string, entry: Entry) => {
    if (entries.get(documentId) !== entry) return;
    const loads = await loading(entry.tabId);
    if (entries.get(documentId) !== entry) return;
    entry.seen ||= loads;
    const now = Date.now();
    // What was seen to load and does so no more is over; what never did was none.
    const over = !loads && (entry.seen || now - entry.last >= SeenMs);
    if (over || now - entry.since >= HeldMs) release(documentId);
    else setTimeout(() => void look(documentId, entry), PollMs);
  };
  return {
    told: (tabId, documentId, navigating) => {
      const now = Date.now();
      const known = entries.get(documentId);
      if (!navigating) release(documentId);
      else if (known) {
        known.last = now;
        known.seen = false;
      } else {
        const entry: Entry = { tabId, since: now, last: now, seen: false, waiting: [] };
        entries.set(documentId, entry);
        setTimeout(() => void look(documentId, entry), PollMs);
      }
    },
    gone: (documentId) => {
      entries.delete(documentId);
    },
    hold: (documentId, start) => {
      const entry = entries.get(documentId);
      if (entry) entry.waiting.push(start);
      else start();
    },
  };
}
