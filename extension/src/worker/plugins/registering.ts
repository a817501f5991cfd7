import { Signal } from '../signal.ts';

/**
 * RegistrationDelayMs is the maximum delay between a change of the plugins and the registration of their scripts, in
 * milliseconds.
 */
const RegistrationDelayMs = 3000;

export interface PendingRegistrations {
  /** fromMs is the earliest time at which a starting document may have missed scripts, in milliseconds since 1970. */
  readonly fromMs: number;
  /**
   * firstMs is when the first script was registered, in milliseconds since 1970, or undefined if no script was
   * registered. A document that started before firstMs runs none of the registered scripts.
   */
  readonly firstMs: number | undefined;
}

/**
 * RegistrationTracker tracks when scripts are registered in Chrome. A document that starts before the last registration
 * may lack some scripts. When a worker starts, registrations count as pending, because the previous worker may have
 * stopped between two registrations.
 */
export class RegistrationTracker {
  /**
   * The signal `registered` fires when the scripts that every document needs are registered, and again when the
   * remaining scripts are registered.
   */
  readonly registered = new Signal<[registrations: PendingRegistrations]>();
  #sinceMs: number | undefined = Date.now() - RegistrationDelayMs;
  #firstMs: number | undefined;
  #hasChanged = false;

  /** isActive is true until all scripts that the server wants are registered. */
  get isActive(): boolean {
    return this.#sinceMs !== undefined;
  }

  track<A extends unknown[]>(registerScripts: (...args: A) => Promise<void>): (...args: A) => Promise<void> {
    return (...args) => {
      const [scripts] = args;
      if (!Array.isArray(scripts) || scripts.length > 0) {
        this.#hasChanged = true;
        this.#sinceMs ??= Date.now() - RegistrationDelayMs;
        this.#firstMs ??= Date.now();
      }
      return registerScripts(...args);
    };
  }

  /** recordCleared records that all scripts were unregistered. */
  recordCleared(): void {
    this.#sinceMs ??= Date.now() - RegistrationDelayMs;
  }

  /**
   * recordBrowserStart records that the browser has just started, so documents that are already open may lack all
   * scripts.
   */
  recordBrowserStart(): void {
    this.#sinceMs = 0;
    this.#hasChanged = true;
  }

  /** After Chrome has registered the base scripts, the worker can inject adapters on demand. */
  recordBases(): void {
    if (this.#hasChanged && this.#sinceMs !== undefined)
      this.registered.emit({ fromMs: this.#sinceMs, firstMs: this.#firstMs });
  }

  recordSettled(): void {
    this.recordBases();
    this.#sinceMs = undefined;
    this.#firstMs = undefined;
    this.#hasChanged = false;
  }
}
