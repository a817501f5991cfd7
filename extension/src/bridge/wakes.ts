import type { FromBridge } from '../port-message.ts';
import type { Host } from './hosts.ts';

/** MinWakeIntervalMs equals the minimum delay that browsers use for nested timers. */
const MinWakeIntervalMs = 4;

export interface WakeRequestsOptions {
  post(message: FromBridge): boolean;
  isVisible(): boolean;
  readonly nowMs?: () => number;
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
  post: postToWorker,
  isVisible,
  nowMs = () => performance.now(),
}: WakeRequestsOptions): WakeRequests {
  const dueTimes = new Map<Host, number>();
  /**
   * requestedWakeAt is the time of the pending wake request to the worker; Infinity means that no request is pending.
   */
  let requestedWakeAt = Infinity;

  const requestWake = () => {
    if (isVisible() || dueTimes.size === 0) return;
    const nextWakeAt = Math.max(Math.min(...dueTimes.values()), nowMs() + MinWakeIntervalMs);
    if (nextWakeAt >= requestedWakeAt) return;
    if (postToWorker({ op: 'scheduleWake', ms: Math.ceil(nextWakeAt - nowMs()) })) requestedWakeAt = nextWakeAt;
  };
  return {
    setTimer: (host, ms) => {
      if (!Number.isFinite(ms) || ms < 0) {
        dueTimes.delete(host);
        return;
      }
      dueTimes.set(host, nowMs() + ms);
      requestWake();
    },
    wake: () => {
      requestedWakeAt = Infinity;
      const wakeAt = nowMs();
      for (const [host, dueAt] of dueTimes) {
        if (dueAt > wakeAt) continue;
        dueTimes.delete(host);
        host.sendText('["wake"]'); // after a wake, the host reports when its next timer is due
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
