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
  setNavigating(tabId: number, documentId: string, isNavigating: boolean): void;
  /** The method `forgetDocument` removes a document and the calls that wait for it, without starting the calls. */
  forgetDocument(documentId: string): void;
  /**
   * runAfterNavigation runs the function `start` as soon as a call can be sent to a document. During a navigation,
   * `start` runs when the navigation ends without a new document, or after MaxDelayMs.
   */
  runAfterNavigation(documentId: string, start: () => void): void;
}

interface NavigatingDocument {
  readonly tabId: number;
  /** firstReportAtMs is when the document first reported its navigation, in milliseconds since 1970. */
  readonly firstReportAtMs: number;
  lastReportAtMs: number;
  /** wasLoading is true if the tab has started to load since the last report of the navigation. */
  wasLoading: boolean;
  readonly startCallbacks: (() => void)[];
}

export function makeNavigatingDocuments(isTabLoading: (tabId: number) => Promise<boolean>): NavigatingDocuments {
  const navigatingDocuments = new Map<string, NavigatingDocument>();

  const startWaiting = (documentId: string) => {
    const startFunctions = navigatingDocuments.get(documentId)?.startCallbacks ?? [];
    navigatingDocuments.delete(documentId);
    for (const start of startFunctions) start();
  };
  const checkNavigatingTab = async (documentId: string, navigatingDocument: NavigatingDocument) => {
    if (navigatingDocuments.get(documentId) !== navigatingDocument) return;
    const isLoading = await isTabLoading(navigatingDocument.tabId);
    if (navigatingDocuments.get(documentId) !== navigatingDocument) return;
    navigatingDocument.wasLoading ||= isLoading;
    const nowMs = Date.now();
    // A navigation is over when the tab has stopped loading, or has not started to load within LoadStartTimeoutMs.
    const isOver =
      !isLoading && (navigatingDocument.wasLoading || nowMs - navigatingDocument.lastReportAtMs >= LoadStartTimeoutMs);
    if (isOver || nowMs - navigatingDocument.firstReportAtMs >= MaxDelayMs) startWaiting(documentId);
    else setTimeout(() => void checkNavigatingTab(documentId, navigatingDocument), PollIntervalMs);
  };
  return {
    setNavigating: (tabId, documentId, isNavigating) => {
      const nowMs = Date.now();
      const knownNavigation = navigatingDocuments.get(documentId);
      if (!isNavigating) startWaiting(documentId);
      else if (knownNavigation) {
        knownNavigation.lastReportAtMs = nowMs;
        knownNavigation.wasLoading = false;
      } else {
        const navigatingDocument: NavigatingDocument = {
          tabId,
          firstReportAtMs: nowMs,
          lastReportAtMs: nowMs,
          wasLoading: false,
          startCallbacks: [],
        };
        navigatingDocuments.set(documentId, navigatingDocument);
        setTimeout(() => void checkNavigatingTab(documentId, navigatingDocument), PollIntervalMs);
      }
    },
    forgetDocument: (documentId) => {
      navigatingDocuments.delete(documentId);
    },
    runAfterNavigation: (documentId, start) => {
      const navigatingDocument = navigatingDocuments.get(documentId);
      if (navigatingDocument) navigatingDocument.startCallbacks.push(start);
      else start();
    },
  };
}
