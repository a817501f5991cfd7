/** LeadMs is how long before a registration its cause may have come: a plugin is added, and the server sends it a little later. */
const LeadMs = 3000;

/**
 * Registering follows the registrations of scripts. A document that begins before the last of them may lack what the server
 * wants by then; registered is called with the time from which on that may be.
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
  /** settled notes that all is registered that the server has asked for. */
  settled(): void;
}

/**
 * makeRegistering returns a Registering for a worker that has just started: the one before it may have stopped between two
 * registrations.
 */
export function makeRegistering(registered: (fromMs: number) => void): Registering {
  let sinceMs: number | undefined = Date.now() - LeadMs;
  let changed = false;
  return {
    noted:
      (change) =>
      (...args) => {
        const [scripts] = args;
        if (!Array.isArray(scripts) || scripts.length > 0) {
          changed = true;
          sinceMs ??= Date.now() - LeadMs;
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
    settled: () => {
      if (changed && sinceMs !== undefined) registered(sinceMs);
      sinceMs = undefined;
      changed = false;
    },
  };
}
