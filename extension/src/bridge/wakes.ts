import type { FromBridge } from '../port-message.ts';
import type { Host } from './hosts.ts';

/** MinWakeIntervalMs equals the minimum delay that browsers use for nested timers. */
const MinWakeIntervalMs = 4;

export interface WakeRequestsOptions {
  post(message: FromBridge): boolean;
  isVisible(): boolean;
  readonly now?: () => number;
}

/**
 * WakeRequests asks the worker to wake a hidden document when a timer is due, because Chrome delays timers of hidden
 * documents. At any time, the bridge has at most one pending wake request.
 */
export interface WakeRequests {
  /** A negative number of milliseconds means that the host has no pending timer. */
  setTimer(host: Host, ms: number): void;
  wake(): void;
  onVisibilityChanged(): void;
  /** A new worker does not have the document's wake request, so onPortConnected sends the request again. */
  onPortConnected(): void;
}

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
        host.send('["wake"]'); // After a wake, the host reports again when its next timer is due.
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
