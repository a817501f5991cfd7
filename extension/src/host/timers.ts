import { atEndOfTask } from './channel.ts';
import { apply, bare, clock, delay, isFiniteNumber, isFn, isObject, now, soon } from './primordials.ts';

// Taken before any page script ran, as those of primordials.ts.
const cancelDelay = clearTimeout;

/** MaxMs is the longest time of a timer of the browser. */
const MaxMs = 2 ** 31 - 1;

/**
 * Timers of one plugin. Chrome runs the timers of a hidden page once a second, and later once a minute, so the bridge is
 * told when the earliest is due and has the worker wake the host. The page's own timer is set as well: it counts if the
 * page is visible or the worker is not there.
 */
export interface Timers {
  /** set calls done once, after ms milliseconds, and returns what takes that back. */
  set(ms: unknown, done: unknown): () => void;
  /** wake runs what is due. */
  wake(): void;
}

/** Timer is one that has not run. */
interface Timer {
  readonly dueAt: number;
  native: ReturnType<typeof setTimeout> | undefined;
  /** ran tells that the page's own timer has run. */
  ran: boolean;
  done(): void;
}

/** makeTimers returns no timers. announce takes how many milliseconds it is to the next one; -1 if there is none. */
export function makeTimers(announce: (ms: number) => void): Timers {
  const table = bare();
  let last = 0;
  /** announced is when the timer is due that was announced last; Infinity if there is none. */
  let announced = Infinity;
  let announcing = false;

  const time = (): number => apply(now, clock, []);
  const earliest = (): number => {
    let dueAt = Infinity;
    for (const id in table) {
      const timer = table[id];
      if (isTimer(timer) && timer.dueAt < dueAt) dueAt = timer.dueAt;
    }
    return dueAt;
  };
  const changed = () => {
    if (announcing) return;
    announcing = true;
    // A task may set a thousand timers, and needs one announcement.
    soon(() => {
      announcing = false;
      const dueAt = earliest();
      if (dueAt === announced) return;
      announced = dueAt;
      announce(dueAt === Infinity ? -1 : atLeast(0, dueAt - time()));
    });
  };
  const take = (id: number | string): Timer | undefined => {
    const timer = table[id];
    if (!isTimer(timer)) return undefined;
    delete table[id];
    cancelDelay(timer.native);
    changed();
    return timer;
  };
  const run = () => {
    const at = time();
    for (const id in table) {
      const timer = table[id];
      if (isTimer(timer) && (timer.ran || timer.dueAt <= at)) take(id)?.done();
    }
  };
  // Not in the task of a timer: Chrome holds timers that timers have set back more than others.
  const runSoon = atEndOfTask(run);

  return {
    set: (given, done) => {
      if (!isFn(done)) return nothing;
      const ms = typeof given === 'number' && isFiniteNumber(given) ? atLeast(0, given > MaxMs ? MaxMs : given) : 0;
      const id = ++last;
      const timer: Timer = {
        dueAt: time() + ms,
        native: undefined,
        ran: false,
        done: () => {
          try {
            apply(done, undefined, []);
          } catch {
            // The SDK's callbacks don't throw; an error that left this task would be shown to the page.
          }
        },
      };
      timer.native = delay(() => {
        timer.ran = true;
        runSoon();
      }, ms);
      table[id] = timer;
      changed();
      return () => {
        take(id);
      };
    },
    wake: () => {
      announced = Infinity; // the bridge has forgotten what was announced
      run();
      changed();
    },
  };
}

function isTimer(value: unknown): value is Timer {
  return isObject(value);
}

function atLeast(least: number, value: number): number {
  return value > least ? value : least;
}

function nothing(): void {
  // There is nothing to take back.
}
