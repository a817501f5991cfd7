import type * as scripts from '../../chrome-scripts.ts';
import { Signal } from '../signal.ts';

/**
 * RegistrationDelayMs is the maximum delay between a change of the plugins and the registration of their scripts, in
 * milliseconds.
 */
const RegistrationDelayMs = 3000;

export type RegistrationFunctions = Pick<
  typeof scripts,
  'registerUserScripts' | 'updateUserScript' | 'registerFiles' | 'updateFile'
>;

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
   * registrationSignal fires when the scripts that every document needs are registered, and again when the
   * remaining scripts are registered.
   */
  readonly registrationSignal = new Signal<[registrations: PendingRegistrations]>();
  #registrationPendingSinceMs: number | undefined = Date.now() - RegistrationDelayMs;
  #firstRegistrationMs: number | undefined;
  #hasChanged = false;

  /** isActive is true until all scripts that the server wants are registered. */
  get isActive(): boolean {
    return this.#registrationPendingSinceMs !== undefined;
  }

  /** wrapRegistrationFunctions returns the same functions, which also record that they registered a script. */
  wrapRegistrationFunctions(registrationFunctions: RegistrationFunctions): RegistrationFunctions {
    return {
      registerUserScripts: this.wrapRegistrationFunction(registrationFunctions.registerUserScripts),
      updateUserScript: this.wrapRegistrationFunction(registrationFunctions.updateUserScript),
      registerFiles: this.wrapRegistrationFunction(registrationFunctions.registerFiles),
      updateFile: this.wrapRegistrationFunction(registrationFunctions.updateFile),
    };
  }

  wrapRegistrationFunction<A extends unknown[]>(
    registerScripts: (...args: A) => Promise<void>,
  ): (...args: A) => Promise<void> {
    return (...args) => {
      const [scripts] = args;
      if (!Array.isArray(scripts) || scripts.length > 0) {
        this.#hasChanged = true;
        this.#registrationPendingSinceMs ??= Date.now() - RegistrationDelayMs;
        this.#firstRegistrationMs ??= Date.now();
      }
      return registerScripts(...args);
    };
  }

  /** recordScriptsCleared records that all scripts were unregistered. */
  recordScriptsCleared(): void {
    this.#registrationPendingSinceMs ??= Date.now() - RegistrationDelayMs;
  }

  /**
   * recordBrowserStart records that the browser has just started, so documents that are already open may lack all
   * scripts.
   */
  recordBrowserStart(): void {
    this.#registrationPendingSinceMs = 0;
    this.#hasChanged = true;
  }

  /**
   * recordBaseScriptsRegistered records that Chrome has registered the base scripts, so that the worker can inject
   * adapters on demand.
   */
  recordBaseScriptsRegistered(): void {
    if (this.#hasChanged && this.#registrationPendingSinceMs !== undefined)
      this.registrationSignal.emit({ fromMs: this.#registrationPendingSinceMs, firstMs: this.#firstRegistrationMs });
  }

  recordAllRegistered(): void {
    this.recordBaseScriptsRegistered();
    this.#registrationPendingSinceMs = undefined;
    this.#firstRegistrationMs = undefined;
    this.#hasChanged = false;
  }
}
