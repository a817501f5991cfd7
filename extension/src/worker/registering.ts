/**
 * LeadMs is how long before a registration its cause may have come, in milliseconds: the server sends a new plugin with
 * a delay.
 */
const LeadMs = 3000;

/** Registrations are registrations that were made together. */
export interface Registrations {
  /** fromMs is the time from which documents may lack wanted scripts, in milliseconds since 1970. */
  readonly fromMs: number;
  /**
   * firstMs is when the first registration was made. Documents before it have none of the scripts. It is undefined if
   * nothing was registered.
   */
  readonly firstMs: number | undefined;
}

/**
 * Registering tracks the registrations of scripts. A document that starts before the last registration may lack wanted
 * scripts. registered is called when the scripts that all documents need are registered, and again after the rest.
 */
export interface Registering {
  /** track wraps a function that registers scripts, to note each registration. */
  track<A extends unknown[]>(change: (...args: A) => Promise<void>): (...args: A) => Promise<void>;
  /** cleared notes that nothing is registered any more. */
  cleared(): void;
  /** browserStarted notes that the browser has just started, so that no earlier document has any script. */
  browserStarted(): void;
  /** pending reports whether registrations are outstanding. */
  readonly pending: boolean;
  /**
   * basesRegistered notes that the scripts that every document needs are registered. Adapters can be injected on
   * demand.
   */
  basesRegistered(): void;
  /** settled notes that everything that the server wants is registered. */
  settled(): void;
}

/**
 * makeRegistering returns a Registering for a new worker. The last worker may have stopped between two registrations.
 */
export function makeRegistering(registered: (registrations: Registrations) => void): Registering {
  let sinceMs: number | undefined = Date.now() - LeadMs;
  let firstMs: number | undefined;
  let changed = false;
  const report = () => {
    if (changed && sinceMs !== undefined) registered({ fromMs: sinceMs, firstMs });
  };
  return {
    track:
      (change) =>
      (...args) => {
        const [scripts] = args;
        if (!Array.isArray(scripts) || scripts.length > 0) {
          changed = true;
          sinceMs ??= Date.now() - LeadMs;
          firstMs ??= Date.now();
        }
        return change(...args);
      },
    cleared: () => {
      sinceMs ??= Date.now() - LeadMs;
    },
    browserStarted: () => {
      sinceMs = 0;
      changed = true;
    },
    get pending() {
      return sinceMs !== undefined;
    },
    basesRegistered: report,
    settled: () => {
      report();
      sinceMs = undefined;
      firstMs = undefined;
      changed = false;
    },
  };
}
