import type { TabEvent } from '../../chrome-pages.ts';

/** WatchTabs calls a listener for each event of any tab, until the returned function is called. */
export type WatchTabs = (listener: (tabId: number, event: TabEvent) => void) => () => void;

/** OpenedTab is a tab that was opened by a document of the watched tab. */
export interface OpenedTab {
  readonly tabId: number;
  readonly url: string;
}

/** The tool must call the method `stop` of the TabWatch before the tool returns. */
export class TabWatch {
  /** isLoading is true from the request for a new document until the document's load event. */
  isLoading = false;
  hasStarted = false;
  document: { readonly url: string; readonly documentId: string } | undefined;
  isDomReady = false;
  isLoaded = false;
  /** The field `error` is Chrome's error name if the last request for a document failed, and otherwise undefined. */
  error: string | undefined;
  /** The field `address` is the tab's URL after its latest change without a new document. */
  address: string | undefined;
  isClosed = false;
  readonly opened: OpenedTab[] = [];
  /** onOpened is called for each tab that a document of the watched tab opens. */
  onOpened: ((tab: OpenedTab) => void) | undefined;
  readonly stop: () => void;
  readonly #eventWaiters: (() => void)[] = [];
  readonly #bufferedEvents: [number, TabEvent][] = [];
  #tabId: number | undefined;

  /** If tabId is undefined, the constructor keeps the events of all tabs until setTab is called. */
  constructor(watchTabs: WatchTabs, tabId?: number) {
    this.#tabId = tabId;
    this.stop = watchTabs((id, event) => {
      if (this.#tabId === undefined) this.#bufferedEvents.push([id, event]);
      else if (id === this.#tabId) this.#receive(event);
    });
  }

  /** setTab selects the tab to watch, and records the earlier events of the tab. */
  setTab(tabId: number): void {
    this.#tabId = tabId;
    for (const [id, event] of this.#bufferedEvents.splice(0)) if (id === tabId) this.#receive(event);
  }

  #receive(event: TabEvent): void {
    this.#recordEvent(event);
    for (const wake of this.#eventWaiters.splice(0)) wake();
  }

  /** The method `next` resolves at the tab's next event or after limitMs milliseconds. */
  next(limitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(end, Math.max(0, limitMs));
      this.#eventWaiters.push(end);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #recordEvent(event: TabEvent): void {
    switch (event.kind) {
      case 'started':
        this.hasStarted = true;
        this.isLoading = true;
        this.error = undefined;
        break;
      case 'committed':
        this.hasStarted = true;
        this.isLoading = true;
        this.error = undefined;
        this.document = { url: event.url, documentId: event.documentId };
        this.isDomReady = false;
        this.isLoaded = false;
        break;
      case 'domcontentloaded':
        if (event.documentId === this.document?.documentId) this.isDomReady = true;
        break;
      case 'load':
        if (event.documentId !== this.document?.documentId) break;
        this.isDomReady = true;
        this.isLoaded = true;
        this.isLoading = false;
        break;
      case 'failed':
        this.error = event.error;
        this.isLoading = false;
        break;
      case 'address':
        this.address = event.url;
        break;
      case 'closed':
        this.isClosed = true;
        this.isLoading = false;
        break;
      case 'opened': {
        const tab = { tabId: event.tabId, url: event.url };
        this.opened.push(tab);
        this.onOpened?.(tab);
        break;
      }
    }
  }
}
