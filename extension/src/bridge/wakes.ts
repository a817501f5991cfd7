import type { FromBridge } from '../port-message.ts';
import type { Host } from './hosts.ts';

/**
 * LeastMs is the least time between two wakes of a document, in milliseconds. Browsers use the same minimum for nested
 * timers.
 */
const LeastMs = 4;

/** WakesOptions are the dependencies of Wakes. */
export interface WakesOptions {
  /** post sends a message to the worker. post returns false without a port. */
  post(message: FromBridge): boolean;
  /** visible reports whether the document may be visible to the user. */
  visible(): boolean;
  /** now returns the time in milliseconds. By default, now is performance.now. */
  readonly now?: () => number;
}

/**
 * Wakes requests wakes from the worker for timers that are due while the document is hidden. At most one wake is
 * requested at a time.
 */
export interface Wakes {
  /** setTimer sets in how many milliseconds the next timer of a host is due. Negative means never. */
  setTimer(host: Host, ms: number): void;
  /** wake wakes the hosts with due timers. */
  wake(): void;
  /** visibilityChanged is called when the visibility of the document has changed. */
  visibilityChanged(): void;
  /** portConnected is called for a new port, which may lead to a new worker. */
  portConnected(): void;
}

/** makeWakes returns Wakes without timers. */
export function makeWakes({ post, visible, now = () => performance.now() }: WakesOptions): Wakes {
  const due = new Map<Host, number>();
  /** requested is the time for which a wake was requested. Infinity for none. */
  let requested = Infinity;

  const request = () => {
    if (visible() || due.size === 0) return;
    const next = Math.max(Math.min(...due.values()), now() + LeastMs);
    if (next >= requested) return;
    if (post({ op: 'wake', ms: Math.ceil(next - now()) })) requested = next;
  };
  return {
    setTimer: (host, ms) => {
      if (!Number.isFinite(ms) || ms < 0) {
        due.delete(host);
        return;
      }
      due.set(host, now() + ms);
      request();
    },
    wake: () => {
      requested = Infinity;
      const at = now();
      for (const [host, dueAt] of due) {
        if (dueAt > at) continue;
        due.delete(host);
        host.send('["wake"]'); // after the wake, the host sends the time of its next timer
      }
      request();
    },
    visibilityChanged: request,
    portConnected: () => {
      requested = Infinity;
      request();
    },
  };
}
