import { LoadErrorNoAnswer, SiteTimeoutMs } from '../../../../wire/wire.gen.ts';
import { Signal } from '../signal.ts';

/**
 * AbortedErrorName is Chrome's error for a cancelled navigation. After a cancelled navigation, the tab keeps its
 * current page. Chrome also cancels a navigation that becomes a download.
 */
const AbortedErrorName = 'net::ERR_ABORTED';

export interface LoadError {
  /**
   * The field `name` is Chrome's error name, such as net::ERR_CONNECTION_REFUSED. If the site has not responded to the
   * request for a document within SiteTimeoutMs, `name` is LoadErrorNoAnswer.
   */
  readonly name: string;
  /** atMs is when loading failed, in milliseconds since 1970. */
  readonly atMs: number;
}

/** TabLoadErrors tracks tabs that show Chrome's error page, and tabs whose site does not respond. */
export class TabLoadErrors {
  /** The signal `changed` fires when a tab gets a load error, and when its load error disappears. */
  readonly changed = new Signal();
  readonly #errors = new Map<number, LoadError>();
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();

  getError(tabId: number): LoadError | undefined {
    return this.#errors.get(tabId);
  }

  /** recordRequest starts the response timer of a tab that has just requested a page. */
  recordRequest(tabId: number): void {
    if (this.#stopAnswerTimer(tabId)) this.changed.emit();
    this.#startAnswerTimer(tabId);
  }

  /**
   * startResponseTimer starts the response timer of a new tab, because Chrome does not report when a new tab starts to
   * load.
   */
  startResponseTimer(tabId: number): void {
    if (!this.#timers.has(tabId) && this.getError(tabId)?.name !== LoadErrorNoAnswer) this.#startAnswerTimer(tabId);
  }

  recordFailure(tabId: number, name: string): void {
    const hadNoAnswerError = this.#stopAnswerTimer(tabId);
    if (name !== AbortedErrorName) this.#recordLoadError(tabId, name);
    else if (hadNoAnswerError) this.changed.emit();
  }

  recordPageShown(tabId: number): void {
    const hadNoAnswerError = this.#stopAnswerTimer(tabId);
    if (this.#errors.delete(tabId) || hadNoAnswerError) this.changed.emit();
  }

  #recordLoadError(tabId: number, name: string): void {
    this.#errors.set(tabId, { name, atMs: Date.now() });
    this.changed.emit();
  }

  /** stopAnswerTimer returns true if the tab's error was LoadErrorNoAnswer. */
  #stopAnswerTimer(tabId: number): boolean {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    return this.getError(tabId)?.name === LoadErrorNoAnswer && this.#errors.delete(tabId);
  }

  #startAnswerTimer(tabId: number): void {
    const onTimeout = () => {
      this.#timers.delete(tabId);
      this.#recordLoadError(tabId, LoadErrorNoAnswer);
    };
    this.#timers.set(tabId, setTimeout(onTimeout, SiteTimeoutMs));
  }
}
