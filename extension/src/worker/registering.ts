/** LeadMs is how long before a registration its cause may have come: a plugin is added, and the server sends it a little later. */
const LeadMs = 3000;

/** Registrations are those that were made together, by time in milliseconds since 1970. */
export interface Registrations {
  /** fromMs is from when on documents may have begun that lack what the server wants by now. */
  readonly fromMs: number;
  /** firstMs is when the first was made: documents before it have none. Undefined if there was nothing to register. */
  readonly firstMs: number | undefined;
}

/**
 * Registering follows the registrations of scripts. A document that begins before the last of them may lack what the server
 * wants by then. registered is called when those are made that all documents need, and again when the rest is.
 */
export interface Registering {
  /** noted returns change, a registration, so that it is noted when it is made. */
  noted<A extends unknown[]>(change: (...args: A) => Promise<void>): (...args: A) => Promise<void>;
  /** cleared notes that nothing is registered any more. */
  cleared(): void;
  /** began notes that the browser has just started: no document before can have had anything. */
  began(): void;
  /** pending reports whether something is still to be registered. */
  readonly pending: boolean;
  /** based notes that what every document needs is registered: adapters can come on demand. */
  based(): void;
  /** settled notes that all is registered that the server has asked for. */
  settled(): void;
}

/**
 * makeRegistering returns a Registering for a worker that has just started: the one before it may have stopped between two
 * registrations.
 */
export function makeRegistering(registered: (registrations: Registrations) => void): Registering {
  let sinceMs: number | undefined = Date.now() - LeadMs;
  let firstMs: number | undefined;
  let changed = false;
  const report = () => {
    if (changed && sinceMs !== undefined) registered({ fromMs: sinceMs, firstMs });
  };
  return {
    noted:
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
    began: () => {
      sinceMs = 0;
      changed = true;
    },
    get pending() {
      return sinceMs !== undefined;
    },
    based: report,
    settled: () => {
      report();
      sinceMs = undefined;
      firstMs = undefined;
      changed = false;
    },
  };
}
