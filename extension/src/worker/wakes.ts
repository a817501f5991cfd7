import type { ToBridge } from '../port-message.ts';

/** Sleeper is a document on one port, as far as it is used here. */
export interface Sleeper {
  post(message: ToBridge): void;
}

/** Wakes are the timers of hidden documents; those of a service worker are not throttled. */
export interface Wakes {
  /** ask wakes a document once, in ms milliseconds; a new ask takes the place of the one before. */
  ask(doc: Sleeper, ms: number): void;
  /** left forgets a document. */
  left(doc: Sleeper): void;
}

/** makeWakes returns Wakes without timers. */
export function makeWakes(): Wakes {
  const timers = new Map<Sleeper, ReturnType<typeof setTimeout>>();
  const left = (doc: Sleeper) => {
    clearTimeout(timers.get(doc));
    timers.delete(doc);
  };
  return {
    ask: (doc, ms) => {
      left(doc);
      const wake = () => {
        timers.delete(doc);
        doc.post({ op: 'wake' });
      };
      timers.set(doc, setTimeout(wake, ms));
    },
    left,
  };
}
