/** PollMs is how often a navigating tab is checked, in milliseconds. */
const PollMs = 100;
/** SeenMs is how long a tab may take to start loading, in milliseconds. */
const SeenMs = 1000;
/** MaxHoldMs is the maximum delay of a call that waits for a navigation, in milliseconds. */
const MaxHoldMs = 5000;

/**
 * Navigating tracks the documents that started to navigate away. No new call should begin in a document that is
 * navigating away.
 */
export interface Navigating {
  /** setNavigating stores whether a document is navigating away. */
  setNavigating(tabId: number, documentId: string, navigating: boolean): void;
  /** forget drops a document and the calls that wait for this document. */
  forget(documentId: string): void;
  /**
   * runWhenSettled calls start when a call may be sent to the document: at once if the document does not navigate.
   * While the document navigates, start runs when the navigation ends without a new document (a download, an empty
   * answer, a user who stays), or takes too long.
   */
  runWhenSettled(documentId: string, start: () => void): void;
}

interface Entry {
  readonly tabId: number;
  /** since is when the document first reported its navigation, and last is the time of the latest report. */
  readonly since: number;
  last: number;
  /** seen is whether the tab was seen loading. */
  seen: boolean;
  readonly waiting: (() => void)[];
}

/** makeNavigating returns a Navigating. loading reports whether a tab loads. */
export function makeNavigating(loading: (tabId: number) => Promise<boolean>): Navigating {
  const entries = new Map<string, Entry>();

  const release = (documentId: string) => {
    const waiting = entries.get(documentId)?.waiting ?? [];
    entries.delete(documentId);
    for (const start of waiting) start();
  };
  const check = async (documentId: string, entry: Entry) => {
    if (entries.get(documentId) !== entry) return;
    const loads = await loading(entry.tabId);
    if (entries.get(documentId) !== entry) return;
    entry.seen ||= loads;
    const now = Date.now();
    // A navigation is over when its tab stopped loading, or did not start within SeenMs.
    const over = !loads && (entry.seen || now - entry.last >= SeenMs);
    if (over || now - entry.since >= MaxHoldMs) release(documentId);
    else setTimeout(() => void check(documentId, entry), PollMs);
  };
  return {
    setNavigating: (tabId, documentId, navigating) => {
      const now = Date.now();
      const known = entries.get(documentId);
      if (!navigating) release(documentId);
      else if (known) {
        known.last = now;
        known.seen = false;
      } else {
        const entry: Entry = { tabId, since: now, last: now, seen: false, waiting: [] };
        entries.set(documentId, entry);
        setTimeout(() => void check(documentId, entry), PollMs);
      }
    },
    forget: (documentId) => {
      entries.delete(documentId);
    },
    runWhenSettled: (documentId, start) => {
      const entry = entries.get(documentId);
      if (entry) entry.waiting.push(start);
      else start();
    },
  };
}
