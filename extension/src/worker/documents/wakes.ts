import type { ToBridge } from '../../port-message.ts';

/** WakeTarget is the part of a document that wakes use. */
export interface WakeTarget {
  post(message: ToBridge): void;
}

/** WakeTimers are the timers of hidden documents. Timers in a service worker are not throttled. */
export interface WakeTimers {
  /** schedule wakes a document once, in ms milliseconds. An earlier timer of the same document is replaced. */
  schedule(doc: WakeTarget, ms: number): void;
  /** documentDisconnected drops the timer of a document whose port closed. */
  documentDisconnected(doc: WakeTarget): void;
}

/** makeWakeTimers returns WakeTimers without timers. */
export function makeWakeTimers(): WakeTimers {
  const timers = new Map<WakeTarget, ReturnType<typeof setTimeout>>();
  const stopTimer = (doc: WakeTarget) => {
    clearTimeout(timers.get(doc));
    timers.delete(doc);
  };
  return {
    schedule: (doc, ms) => {
      stopTimer(doc);
      const wakeDocument = () => {
        timers.delete(doc);
        doc.post({ op: 'wake' });
      };
      timers.set(doc, setTimeout(wakeDocument, ms));
    },
    documentDisconnected: stopTimer,
  };
}
