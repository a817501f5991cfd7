import { LoadErrorNoAnswer, SiteTimeoutMs } from '../../../../wire/wire.gen.ts';
import { Signal } from '../signal.ts';

/**
 * AbortedError is Chrome's error of a cancelled navigation. After AbortedError, the tab keeps its page, or a download
 * started.
 */
const AbortedError = 'net::ERR_ABORTED';

/** LoadError describes why the page of a tab could not be loaded. */
export interface LoadError {
  /**
   * name is Chrome's name of the error, such as net::ERR_CONNECTION_REFUSED. While Chrome still waits for the site,
   * name is LoadErrorNoAnswer.
   */
  readonly name: string;
  /** atMs is when the load failed, in milliseconds since 1970. */
  readonly atMs: number;
}

/** TabLoadErrors tracks the tabs that show Chrome's error page, and the tabs whose site does not answer. */
export class TabLoadErrors {
  /** changed reports that an error was added or removed. */
  readonly changed = new Signal();
  readonly #errors = new Map<number, LoadError>();
  /** #timers are the timers of the tabs whose site has not answered yet. */
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();

  /** getError returns why the page of a tab could not be loaded, or undefined if the page was loaded. */
  getError(tabId: number): LoadError | undefined {
    return this.#errors.get(tabId);
  }

  /** recordRequest records that a tab requests a page from a site. */
  recordRequest(tabId: number): void {
    if (this.#stopWaiting(tabId)) this.changed.emit();
    this.#startWaiting(tabId);
  }

  /**
   * recordWait records that a tab is waiting for a site. For new tabs, Chrome does not report the start of the load.
   */
  recordWait(tabId: number): void {
    if (!this.#timers.has(tabId) && this.getError(tabId)?.name !== LoadErrorNoAnswer) this.#startWaiting(tabId);
  }

  /** recordFailure records that a page could not be loaded. */
  recordFailure(tabId: number, name: string): void {
    const wasWaiting = this.#stopWaiting(tabId);
    if (name !== AbortedError) this.#addError(tabId, name);
    else if (wasWaiting) this.changed.emit();
  }

  /** recordShown records that a tab shows another page or was closed. */
  recordShown(tabId: number): void {
    const wasWaiting = this.#stopWaiting(tabId);
    if (this.#errors.delete(tabId) || wasWaiting) this.changed.emit();
  }

  #addError(tabId: number, name: string): void {
    this.#errors.set(tabId, { name, atMs: Date.now() });
    this.changed.emit();
  }

  /** stopWaiting stops the timer of a tab, and reports whether the missing answer already counted as an error. */
  #stopWaiting(tabId: number): boolean {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    return this.getError(tabId)?.name === LoadErrorNoAnswer && this.#errors.delete(tabId);
  }

  #startWaiting(tabId: number): void {
    const onTimeout = () => {
      this.#timers.delete(tabId);
      this.#addError(tabId, LoadErrorNoAnswer);
    };
    this.#timers.set(tabId, setTimeout(onTimeout, SiteTimeoutMs));
  }
}
