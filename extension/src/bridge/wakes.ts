import type { FromBridge } from '../port-message.ts';
import type { Host } from './hosts.ts';

/**
 * MinWakeIntervalMs is the minimum time between two wakes of a document, in milliseconds. MinWakeIntervalMs equals the
 * minimum delay that browsers use for nested timers.
 */
const MinWakeIntervalMs = 4;

/** WakeRequestsOptions are the functions that makeWakeRequests needs from the document. */
export interface WakeRequestsOptions {
  /** post sends a message to the worker, and returns false if no port is open. */
  post(message: FromBridge): boolean;
  /** isVisible returns false while the document is hidden, as in a background tab. */
  isVisible(): boolean;
  /** now returns the current time in milliseconds. By default, now is performance.now. */
  readonly now?: () => number;
}

/**
 * WakeRequests asks the worker to wake a hidden document when a timer is due, because Chrome delays timers of hidden
 * documents. At any time, the bridge has at most one pending wake request.
 */
export interface WakeRequests {
  /**
   * setTimer sets in how many milliseconds the next timer of a host is due. A negative ms means that the host has no
   * timer.
   */
  setTimer(host: Host, ms: number): void;
  /** wake notifies each host that has a due timer. */
  wake(): void;
  /** onVisibilityChanged is called when the document became visible or hidden. */
  onVisibilityChanged(): void;
  /**
   * onPortConnected is called when a new port is open. A new worker does not have the document's wake request, so
   * onPortConnected sends the request again.
   */
  onPortConnected(): void;
}

/** makeWakeRequests returns a WakeRequests without timers. */
export function makeWakeRequests({
  post,
  isVisible,
  now = () => performance.now(),
}: WakeRequestsOptions): WakeRequests {
  const dueTimes = new Map<Host, number>();
  /**
   * requestedWakeAt is the time of the pending wake request to the worker; Infinity means that no request is pending.
   */
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
        host.send('["wake"]'); // after a wake, the host reports when its next timer is due
      }
      requestWake();
    },
    onVisibilityChanged: requestWake,
    onPortConnected: () => {
      requestedWakeAt = Infinity;
      requestWake();
    },
  };
}
