import type { WorkerToBridgeMessage } from '../../port-message.ts';

export interface WakeTarget {
  post(message: WorkerToBridgeMessage): void;
}

/**
 * WakeTimers runs timers for hidden documents. Chrome throttles timers in hidden pages, but not in the extension's
 * service worker.
 */
export interface WakeTimers {
  /** A new timer replaces the earlier timer of the same document. */
  scheduleWake(doc: WakeTarget, ms: number): void;
  onDocumentDisconnected(doc: WakeTarget): void;
}

export function makeWakeTimers(): WakeTimers {
  const timers = new Map<WakeTarget, ReturnType<typeof setTimeout>>();
  const stopTimer = (doc: WakeTarget) => {
    clearTimeout(timers.get(doc));
    timers.delete(doc);
  };
  return {
    scheduleWake: (doc, ms) => {
      stopTimer(doc);
      const wakeDocument = () => {
        timers.delete(doc);
        doc.post({ op: 'wake' });
      };
      timers.set(doc, setTimeout(wakeDocument, ms));
    },
    onDocumentDisconnected: stopTimer,
  };
}
