const PollIntervalMs = 100;
/**
 * LoadStartTimeoutMs limits how long a tab may take to start loading after its document announced a navigation, in
 * milliseconds.
 */
const LoadStartTimeoutMs = 1000;
/** MaxDelayMs limits how long a navigation may delay a call, in milliseconds. */
const MaxDelayMs = 5000;

/**
 * NavigatingDocuments tracks documents that are about to be replaced by a navigation. A new call should not start in a
 * document that is about to be replaced.
 */
export interface NavigatingDocuments {
  setNavigating(tabId: number, documentId: string, navigating: boolean): void;
  /** The method `forget` removes a document and the calls that wait for the document, without starting the calls. */
  forget(documentId: string): void;
  /**
   * runWhenSettled runs the function start as soon as a call can be sent to a document. During a navigation, `start`
   * runs when the navigation ends without a new document, or after MaxDelayMs.
   */
  runWhenSettled(documentId: string, start: () => void): void;
}

interface NavigatingDocument {
  readonly tabId: number;
  /** firstReportAtMs is when the document first reported its navigation, in milliseconds since 1970. */
  readonly firstReportAtMs: number;
  lastReportAtMs: number;
  /** wasLoading is true if the tab has started to load since the last report of the navigation. */
  wasLoading: boolean;
  readonly waitingStarts: (() => void)[];
}

export function makeNavigating(isTabLoading: (tabId: number) => Promise<boolean>): NavigatingDocuments {
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
    // A navigation is over when the tab has stopped loading, or has not started to load within LoadStartTimeoutMs.
    const isOver = !isLoading && (entry.wasLoading || now - entry.lastReportAtMs >= LoadStartTimeoutMs);
    if (isOver || now - entry.firstReportAtMs >= MaxDelayMs) startWaiting(documentId);
    else setTimeout(() => void checkTab(documentId, entry), PollIntervalMs);
  };
  return {
    setNavigating: (tabId, documentId, navigating) => {
      const now = Date.now();
      const knownEntry = entries.get(documentId);
      if (!navigating) startWaiting(documentId);
      else if (knownEntry) {
        knownEntry.lastReportAtMs = now;
        knownEntry.wasLoading = false;
      } else {
        const entry: NavigatingDocument = {
          tabId,
          firstReportAtMs: now,
          lastReportAtMs: now,
          wasLoading: false,
          waitingStarts: [],
        };
        entries.set(documentId, entry);
        setTimeout(() => void checkTab(documentId, entry), PollIntervalMs);
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
