import { atEndOfTask } from './channel.ts';
import { apply, bare, clock, delay, isFiniteNumber, isFn, isObject, now, soon } from './primordials.ts';

// These built-ins are stored before any script of the page runs, like those of primordials.ts.
const cancelDelay = clearTimeout;

/** MaxMs is the longest delay of a browser timer, in milliseconds. */
const MaxMs = 2 ** 31 - 1;

/**
 * Timers are the timers of one plugin. Chrome runs timers of a hidden page once a second, and later once a minute. For
 * timers of a hidden page, the host announces the earliest due time to the bridge, and the worker wakes the host. In
 * addition, the host sets a native timer, for visible pages and for times when no worker runs.
 */
export interface Timers {
  /** set calls done once, after ms milliseconds, and returns a function that cancels the timer. */
  set(ms: unknown, done: unknown): () => void;
  /** wake runs all due timers. */
  wake(): void;
}

/** Timer is a timer that has not run. */
interface Timer {
  readonly dueAt: number;
  native: ReturnType<typeof setTimeout> | undefined;
  /** hasFired is true after the native timer has fired. */
  hasFired: boolean;
  done(): void;
}

/**
 * makeTimers returns Timers. announce receives the time until the next timer, in milliseconds; -1 if no timer is set.
 */
export function makeTimers(announce: (ms: number) => void): Timers {
  const table = bare();
  let last = 0;
  /** announced is the due time that was announced last; Infinity if no due time was announced. */
  let announced = Infinity;
  let isAnnouncing = false;

  const time = (): number => apply(now, clock, []);
  const earliest = (): number => {
    let dueAt = Infinity;
    for (const id in table) {
      const timer = table[id];
      if (isTimer(timer) && timer.dueAt < dueAt) dueAt = timer.dueAt;
    }
    return dueAt;
  };
  const announceNext = () => {
    if (isAnnouncing) return;
    isAnnouncing = true;
    // The announcement is sent in a microtask, so that a task that sets many timers sends only one announcement.
    soon(() => {
      isAnnouncing = false;
      const dueAt = earliest();
      if (dueAt === announced) return;
      announced = dueAt;
      announce(dueAt === Infinity ? -1 : atLeast(0, dueAt - time()));
    });
  };
  const remove = (id: number | string): Timer | undefined => {
    const timer = table[id];
    if (!isTimer(timer)) return undefined;
    delete table[id];
    cancelDelay(timer.native);
    announceNext();
    return timer;
  };
  const run = () => {
    const at = time();
    for (const id in table) {
      const timer = table[id];
      if (isTimer(timer) && (timer.hasFired || timer.dueAt <= at)) remove(id)?.done();
    }
  };
  // Due timers do not run in the task of a native timer, because Chrome throttles nested timers more.
  const runSoon = atEndOfTask(run);

  return {
    set: (given, done) => {
      if (!isFn(done)) return doNothing;
      const ms = typeof given === 'number' && isFiniteNumber(given) ? atLeast(0, given > MaxMs ? MaxMs : given) : 0;
      const id = ++last;
      const timer: Timer = {
        dueAt: time() + ms,
        native: undefined,
        hasFired: false,
        done: () => {
          try {
            apply(done, undefined, []);
          } catch {
            // Callbacks of the SDK do not throw. An uncaught error would be visible to the page.
          }
        },
      };
      timer.native = delay(() => {
        timer.hasFired = true;
        runSoon();
      }, ms);
      table[id] = timer;
      announceNext();
      return () => {
        remove(id);
      };
    },
    wake: () => {
      announced = Infinity; // the bridge drops the announcement when it wakes the host
      run();
      announceNext();
    },
  };
}

function isTimer(value: unknown): value is Timer {
  return isObject(value);
}

function atLeast(least: number, value: number): number {
  return value > least ? value : least;
}

function doNothing(): void {
  // The result of set for an invalid callback: no timer was set, so cancelling has no effect.
}
