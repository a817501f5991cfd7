import { runAtEndOfTask } from './channel.ts';
import {
  apply,
  isFiniteNumber,
  isFn,
  isObject,
  makeBareObject,
  nativePerformance,
  nativeSetTimeout,
  performanceNow,
  runInMicrotask,
} from './primordials.ts';

// The timer functions are stored before any script of the page runs, like the built-in functions in primordials.ts.
const nativeClearTimeout = clearTimeout;

/** MaxDelayMs is the longest delay that browser timers support, in milliseconds. */
const MaxDelayMs = 2 ** 31 - 1;

/**
 * AdapterTimers provides the timers of one plugin. In a hidden page, Chrome runs timers only once per second, and later
 * only once per minute. In a hidden page, the host reports the next due time to the bridge, and the worker wakes the
 * host. The host also sets a native timer, which works in visible pages and while the worker is stopped.
 */
export interface AdapterTimers {
  /**
   * The method `set` starts a timer that calls `onTimeout` once after ms milliseconds, and returns a function that
   * cancels the timer.
   */
  set(ms: unknown, onTimeout: unknown): () => void;
  wake(): void;
}

interface AdapterTimer {
  readonly dueAtMs: number;
  nativeTimerId: ReturnType<typeof setTimeout> | undefined;
  hasFired: boolean;
  done(): void;
}

/**
 * `requestWake` is called with the time until the next timer is due, in milliseconds, or with -1 if no timer is set.
 */
export function makeTimers(requestWake: (ms: number) => void): AdapterTimers {
  const pendingTimers = makeBareObject();
  let lastId = 0;
  /** requestedDueAtMs is the due time that was last reported to the bridge, or Infinity if no due time was reported. */
  let requestedDueAtMs = Infinity;
  let isWakeRequestQueued = false;

  const readCurrentTimeMs = (): number => apply(performanceNow, nativePerformance, []);
  const findEarliestDueTime = (): number => {
    let dueAtMs = Infinity;
    for (const id in pendingTimers) {
      const timer = pendingTimers[id];
      if (isTimer(timer) && timer.dueAtMs < dueAtMs) dueAtMs = timer.dueAtMs;
    }
    return dueAtMs;
  };
  const requestWakeForNextTimer = () => {
    if (isWakeRequestQueued) return;
    isWakeRequestQueued = true;
    // requestWakeForNextTimer waits for a microtask, so that a task that sets many timers causes only one announcement
    // to the bridge.
    runInMicrotask(() => {
      isWakeRequestQueued = false;
      const dueAtMs = findEarliestDueTime();
      if (dueAtMs === requestedDueAtMs) return;
      requestedDueAtMs = dueAtMs;
      requestWake(dueAtMs === Infinity ? -1 : clampToMinimum(0, dueAtMs - readCurrentTimeMs()));
    });
  };
  const removeTimer = (id: number | string): AdapterTimer | undefined => {
    const timer = pendingTimers[id];
    if (!isTimer(timer)) return undefined;
    delete pendingTimers[id];
    nativeClearTimeout(timer.nativeTimerId);
    requestWakeForNextTimer();
    return timer;
  };
  const runDueTimers = () => {
    const dueTimeMs = readCurrentTimeMs();
    for (const id in pendingTimers) {
      const timer = pendingTimers[id];
      if (isTimer(timer) && (timer.hasFired || timer.dueAtMs <= dueTimeMs)) removeTimer(id)?.done();
    }
  };
  // Due timers do not run inside the callback of a native timer, because Chrome throttles nested timers more.
  const runAfterTask = runAtEndOfTask(runDueTimers);

  return {
    set: (delayMs, onTimeout) => {
      if (!isFn(onTimeout)) return doNothing;
      const ms =
        typeof delayMs === 'number' && isFiniteNumber(delayMs)
          ? clampToMinimum(0, delayMs > MaxDelayMs ? MaxDelayMs : delayMs)
          : 0;
      const id = ++lastId;
      const timer: AdapterTimer = {
        dueAtMs: readCurrentTimeMs() + ms,
        nativeTimerId: undefined,
        hasFired: false,
        done: () => {
          try {
            apply(onTimeout, undefined, []);
          } catch {
            // Callbacks of the SDK do not throw. An uncaught error of a timer callback would be visible to the page.
          }
        },
      };
      timer.nativeTimerId = nativeSetTimeout(() => {
        timer.hasFired = true;
        runAfterTask();
      }, ms);
      pendingTimers[id] = timer;
      requestWakeForNextTimer();
      return () => {
        removeTimer(id);
      };
    },
    wake: () => {
      requestedDueAtMs = Infinity; // after a wake, the bridge needs a new report of the due time
      runDueTimers();
      requestWakeForNextTimer();
    },
  };
}

function isTimer(value: unknown): value is AdapterTimer {
  return isObject(value);
}

function clampToMinimum(minimum: number, value: number): number {
  return value > minimum ? value : minimum;
}

function doNothing(): void {
  // The method `set` returns doNothing if the callback is invalid: no timer was set, so there is nothing to cancel.
}
