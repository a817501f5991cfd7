import type { ToBridge } from '../../port-message.ts';

/** Sleeper is the part of a document's port that wakes use. */
export interface Sleeper {
  post(message: ToBridge): void;
}

/** Wakes are the timers of hidden documents. Timers in a service worker are not throttled. */
export interface Wakes {
  /** schedule wakes a document once, in ms milliseconds. schedule replaces an earlier timer of the same document. */
  schedule(doc: Sleeper, ms: number): void;
  /** documentDisconnected drops the timer of a document whose port closed. */
  documentDisconnected(doc: Sleeper): void;
}

/** makeWakes returns Wakes without timers. */
export function makeWakes(): Wakes {
  const timers = new Map<Sleeper, ReturnType<typeof setTimeout>>();
  const left = (doc: Sleeper) => {
    clearTimeout(timers.get(doc));
    timers.delete(doc);
  };
  return {
    schedule: (doc, ms) => {
      left(doc);
      const wake = () => {
        timers.delete(doc);
        doc.post({ op: 'wake' });
      };
      timers.set(doc, setTimeout(wake, ms));
    },
    documentDisconnected: left,
  };
}
