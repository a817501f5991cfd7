import type { BridgeToWorkerMessage } from '../port-message.ts';
import type { Host } from './hosts.ts';

/** MinWakeIntervalMs equals the minimum delay that browsers use for nested timers. */
const MinWakeIntervalMs = 4;

export interface WakeRequestsOptions {
  post(message: BridgeToWorkerMessage): boolean;
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
  /** A restarted worker has lost the document's wake request, so onPortConnected sends the request again. */
  onPortConnected(): void;
}

export function makeWakeRequests({
  post: postToWorker,
  isVisible,
  nowMs = () => performance.now(),
}: WakeRequestsOptions): WakeRequests {
  const dueTimesByHost = new Map<Host, number>();
  /**
   * requestedWakeAtMs is the time of the pending wake request to the worker; Infinity means that no request is pending.
   */
  let requestedWakeAtMs = Infinity;

  const requestWake = () => {
    if (isVisible() || dueTimesByHost.size === 0) return;
    const nextWakeAtMs = Math.max(Math.min(...dueTimesByHost.values()), nowMs() + MinWakeIntervalMs);
    if (nextWakeAtMs >= requestedWakeAtMs) return;
    if (postToWorker({ op: 'scheduleWake', ms: Math.ceil(nextWakeAtMs - nowMs()) })) requestedWakeAtMs = nextWakeAtMs;
  };
  return {
    setTimer: (host, ms) => {
      if (!Number.isFinite(ms) || ms < 0) {
        dueTimesByHost.delete(host);
        return;
      }
      dueTimesByHost.set(host, nowMs() + ms);
      requestWake();
    },
    wake: () => {
      requestedWakeAtMs = Infinity;
      const currentTimeMs = nowMs();
      for (const [host, dueAtMs] of dueTimesByHost) {
        if (dueAtMs > currentTimeMs) continue;
        dueTimesByHost.delete(host);
        host.sendText('["wake"]'); // after a wake, the host reports when its next timer is due
      }
      requestWake();
    },
    onVisibilityChanged: requestWake,
    onPortConnected: () => {
      requestedWakeAtMs = Infinity;
      requestWake();
    },
  };
}
