/** A timer of the virtual clock that has not run or been cleared. */
interface Timer {
  readonly id: number;
  /** When the timer is due, in milliseconds since the clock started. */
  dueMs: number;
  /** The time between two runs of a repeating timer, in milliseconds; undefined for a timer that runs once. */
  readonly intervalMs: number | undefined;
  readonly work: () => void;
}

/** Returns the system time, even after the simulator has replaced the global Date. */
const readSystemTime = Date.now.bind(Date);

/** The date that the virtual clock shows when a test run starts: noon on 1 January 2026, UTC. */
const virtualStartMs = Date.UTC(2026, 0, 1, 12);

/**
 * A virtual clock, which jumps to the next timer whenever no code can run. A wait of five minutes takes no real time,
 * and timestamps are the same in every test run.
 */
export class Clock {
  #now = 0;
  #lastId = 0;
  #timers = new Map<number, Timer>();
  /** The system time at which `followSystem` was called; undefined while the clock is virtual. */
  #systemStartMs: number | undefined;

  /** Milliseconds since the virtual clock started. */
  get now(): number {
    return this.#systemStartMs === undefined ? this.#now : readSystemTime() - this.#systemStartMs;
  }

  /** The date that the simulated page sees, in milliseconds since 1970. */
  get date(): number {
    return this.#systemStartMs === undefined ? virtualStartMs + this.#now : readSystemTime();
  }

  /**
   * Switches the clock to system time, for tests in a real browser. While the clock follows system time, call
   * `runNextTimer` only when `msUntilNextTimer` returns 0.
   */
  followSystem(): void {
    this.#systemStartMs = readSystemTime();
  }

  /** Returns the number of milliseconds until the earliest timer is due, or undefined if no timer is set. */
  msUntilNextTimer(): number | undefined {
    let earliestMs: number | undefined;
    for (const { dueMs } of this.#timers.values()) earliestMs = Math.min(earliestMs ?? dueMs, dueMs);
    return earliestMs === undefined ? undefined : Math.max(earliestMs - this.now, 0);
  }

  /**
   * Calls `work` after `delay` milliseconds, and then every `interval` milliseconds if given. Returns the ID of the new
   * timer.
   */
  setTimer(work: () => void, delay: number, interval?: number): number {
    const id = ++this.#lastId;
    this.#timers.set(id, {
      id,
      dueMs: this.now + clampMs(delay, 0),
      intervalMs: interval && clampMs(interval, 1),
      work,
    });
    return id;
  }

  clearTimer(id: unknown): void {
    if (typeof id === 'number') this.#timers.delete(id);
  }

  /**
   * Advances the virtual clock to the earliest timer's due time and runs that timer. If no timer is set, runNextTimer
   * returns false.
   */
  runNextTimer(): boolean {
    let nextTimer: Timer | undefined;
    for (const timer of this.#timers.values()) if (!nextTimer || timer.dueMs < nextTimer.dueMs) nextTimer = timer;
    if (!nextTimer) return false;
    this.#now = Math.max(this.#now, nextTimer.dueMs);
    if (nextTimer.intervalMs === undefined) this.#timers.delete(nextTimer.id);
    else nextTimer.dueMs = this.now + nextTimer.intervalMs;
    nextTimer.work();
    return true;
  }

  /** Removes all timers, because the simulated page was closed. */
  clearAllTimers(): void {
    this.#timers.clear();
  }
}

function clampMs(ms: number, minimum: number): number {
  return Number.isFinite(ms) ? Math.max(ms, minimum) : minimum;
}
