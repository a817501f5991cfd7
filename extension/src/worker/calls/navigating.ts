/** PollMs is how often a navigating tab is checked, in milliseconds. */
const PollMs = 100;
/** LoadStartMs is how long a tab may take to start loading, in milliseconds. */
const LoadStartMs = 1000;
/** MaxDelayMs is the maximum delay of a call that waits for a navigation, in milliseconds. */
const MaxDelayMs = 5000;

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
   * runWhenSettled calls start when a call may be sent to the document. If the document is not navigating, start runs
   * at once. If the document is navigating, start runs when the navigation ends without a new document (such as a
   * download), or takes too long.
   */
  runWhenSettled(documentId: string, start: () => void): void;
}

interface NavigatingDocument {
  readonly tabId: number;
  /**
   * firstReportMs is when the document first reported its navigation. lastReportMs is when the document last reported
   * its navigation.
   */
  readonly firstReportMs: number;
  lastReportMs: number;
  /** wasLoading is true if a check found the tab loading. */
  wasLoading: boolean;
  readonly waitingStarts: (() => void)[];
}

/** makeNavigating returns a Navigating without documents. isTabLoading reports whether a tab loads. */
export function makeNavigating(isTabLoading: (tabId: number) => Promise<boolean>): Navigating {
  const entries = new Map<string, NavigatingDocument>();

  const startWaiting = (documentId: string) => {
    const waiting = entries.get(documentId)?.waitingStarts ?? [];
    entries.delete(documentId);
    for (const start of waiting) start();
  };
  const checkTab = async (documentId: string, entry: NavigatingDocument) => {
    if (entries.get(documentId) !== entry) return;
    const isLoading = await isTabLoading(entry.tabId);
    if (entries.get(documentId) !== entry) return;
    entry.wasLoading ||= isLoading;
    const now = Date.now();
    // A navigation is over when its tab stopped loading, or did not start to load within LoadStartMs.
    const isOver = !isLoading && (entry.wasLoading || now - entry.lastReportMs >= LoadStartMs);
    if (isOver || now - entry.firstReportMs >= MaxDelayMs) startWaiting(documentId);
    else setTimeout(() => void checkTab(documentId, entry), PollMs);
  };
  return {
    setNavigating: (tabId, documentId, navigating) => {
      const now = Date.now();
      const knownEntry = entries.get(documentId);
      if (!navigating) startWaiting(documentId);
      else if (knownEntry) {
        knownEntry.lastReportMs = now;
        knownEntry.wasLoading = false;
      } else {
        const entry: NavigatingDocument = {
          tabId,
          firstReportMs: now,
          lastReportMs: now,
          wasLoading: false,
          waitingStarts: [],
        };
        entries.set(documentId, entry);
        setTimeout(() => void checkTab(documentId, entry), PollMs);
      }
    },
    forget: (documentId) => {
      entries.delete(documentId);
    },
    runWhenSettled: (documentId, start) => {
      const entry = entries.get(documentId);
      if (entry) entry.waitingStarts.push(start);
      else start();
    },
  };
}
