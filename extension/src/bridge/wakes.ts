import type { FromBridge } from '../port-message.ts';
import type { Host } from './hosts.ts';

/**
 * MinWakeIntervalMs is the minimum time between two wakes of a document, in milliseconds. Browsers also delay nested
 * timers by at least MinWakeIntervalMs.
 */
const MinWakeIntervalMs = 4;

/** WakeRequestsOptions are the functions that WakeRequests use. */
export interface WakeRequestsOptions {
  /** post sends a message to the worker. post returns false without a port. */
  post(message: FromBridge): boolean;
  /** isVisible reports whether the document may be visible to the user. */
  isVisible(): boolean;
  /** now returns the time in milliseconds. By default, now is performance.now. */
  readonly now?: () => number;
}

/**
 * WakeRequests requests wakes from the worker for timers that are due while the document is hidden. WakeRequests
 * requests at most one wake at a time.
 */
export interface WakeRequests {
  /** setTimer sets in how many milliseconds the next timer of a host is due. Negative means never. */
  setTimer(host: Host, ms: number): void;
  /** wake sends a wake to each host with a due timer. */
  wake(): void;
  /** visibilityChanged is called when the visibility of the document has changed. */
  visibilityChanged(): void;
  /** portConnected is called for a new port, which may lead to a new worker. */
  portConnected(): void;
}

/** makeWakeRequests returns WakeRequests without timers. */
export function makeWakeRequests({
  post,
  isVisible,
  now = () => performance.now(),
}: WakeRequestsOptions): WakeRequests {
  const dueTimes = new Map<Host, number>();
  /** requestedWakeAt is the time for which a wake was requested; Infinity if no wake was requested. */
  let requestedWakeAt = Infinity;

  const requestWake = () => {
    if (isVisible() || dueTimes.size === 0) return;
    const nextWakeAt = Math.max(Math.min(...dueTimes.values()), now() + MinWakeIntervalMs);
    if (nextWakeAt >= requestedWakeAt) return;
    if (post({ op: 'scheduleWake', ms: Math.ceil(nextWakeAt - now()) })) requestedWakeAt = nextWakeAt;
  };
  return {
    setTimer: (host, ms) => {
      if (!Number.isFinite(ms) || ms < 0) {
        dueTimes.delete(host);
        return;
      }
      dueTimes.set(host, now() + ms);
      requestWake();
    },
    wake: () => {
      requestedWakeAt = Infinity;
      const wakeAt = now();
      for (const [host, dueAt] of dueTimes) {
        if (dueAt > wakeAt) continue;
        dueTimes.delete(host);
        host.send('["wake"]'); // after a wake, the host sends the time of its next timer
      }
      requestWake();
    },
    visibilityChanged: requestWake,
    portConnected: () => {
      requestedWakeAt = Infinity;
      requestWake();
    },
  };
}
