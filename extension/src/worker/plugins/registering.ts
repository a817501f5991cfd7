import { Signal } from '../signal.ts';

/**
 * RegistrationDelayMs is the maximum time between the cause of a registration and the registration, in milliseconds.
 * The server sends a new plugin with a delay.
 */
const RegistrationDelayMs = 3000;

/** Registrations describes when a group of scripts was registered. */
export interface Registrations {
  /** fromMs is the time from which documents may lack wanted scripts, in milliseconds since 1970. */
  readonly fromMs: number;
  /**
   * firstMs is when the first registration was made, in milliseconds since 1970; undefined if nothing was registered.
   * Documents that started before firstMs have none of the registered scripts.
   */
  readonly firstMs: number | undefined;
}

/**
 * Registering tracks the registrations of scripts. A document that starts before the last registration may lack wanted
 * scripts. When a worker starts, registrations count as pending, because the previous worker may have stopped between
 * two registrations.
 */
export class Registering {
  /**
   * registered is called when the scripts that all documents need are registered, and again when the remaining scripts
   * are registered.
   */
  readonly registered = new Signal<[registrations: Registrations]>();
  #sinceMs: number | undefined = Date.now() - RegistrationDelayMs;
  #firstMs: number | undefined;
  #hasChanged = false;

  /** pending reports whether registrations have not been completed yet. */
  get pending(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** track wraps a function that registers scripts, to record each registration. */
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

  /** recordCleared records that all registrations were removed. */
  recordCleared(): void {
    this.#sinceMs ??= Date.now() - RegistrationDelayMs;
  }

  /** recordBrowserStart records that the browser has just started, so that no earlier document has any script. */
  recordBrowserStart(): void {
    this.#sinceMs = 0;
    this.#hasChanged = true;
  }

  /**
   * recordBases records that the scripts that every document needs are registered. After recordBases, adapters can be
   * injected on demand.
   */
  recordBases(): void {
    if (this.#hasChanged && this.#sinceMs !== undefined)
      this.registered.emit({ fromMs: this.#sinceMs, firstMs: this.#firstMs });
  }

  /** recordSettled records that all scripts that the server wants are registered. */
  recordSettled(): void {
    this.recordBases();
    this.#sinceMs = undefined;
    this.#firstMs = undefined;
    this.#hasChanged = false;
  }
}
