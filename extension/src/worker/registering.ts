/**
 * Registering follows the registrations of scripts. They come one after the other, so a document that begins between two
 * has only some of what the server wants; registered is told from when on that may be.
 */
export interface Registering {
  /** noted returns change, a registration, so that it is noted when it is made. */
  noted<A extends unknown[]>(change: (...args: A) => Promise<void>): (...args: A) => Promise<void>;
  /** cleared notes that nothing is registered any more. */
  cleared(): void;
  /** synced tells which adapters are still to come, by name; none means that all is there. */
  synced(missing: readonly string[]): void;
  /** taken tells that one of them has come. */
  taken(name: string): void;
}

/**
 * makeRegistering returns a Registering for a worker that has just started: the one before it may have stopped between two
 * registrations. registered is called after each step in which, or before which, a registration changed.
 */
export function makeRegistering(registered: (fromMs: number) => void): Registering {
  let sinceMs: number | undefined = Date.now();
  let changed = false;
  const awaited = new Set<string>();
  const settle = () => {
    if (changed && sinceMs !== undefined) registered(sinceMs);
    if (awaited.size > 0) return;
    sinceMs = undefined;
    changed = false;
  };
  return {
    noted:
      (change) =>
      (...args) => {
        changed = true;
        sinceMs ??= Date.now();
        return change(...args);
      },
    cleared: () => {
      sinceMs ??= Date.now();
    },
    synced: (missing) => {
      awaited.clear();
      for (const name of missing) awaited.add(name);
      settle();
    },
    taken: (name) => {
      awaited.delete(name);
      settle();
    },
  };
}
